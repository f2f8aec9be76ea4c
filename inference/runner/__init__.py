"""Computes a step: chunks in, sampled tokens out.

model_runner.py    lays the chunks out as one batch, runs the model, samples
layout.py          where a step's tokens lie
block_tables.py    tables of blocks, kept between steps
pooling.py         a prompt as one vector
block_transfer.py  KV blocks as bytes, out of the cache and into it
checksum.py        sums of KV blocks, to notice memory that changed
swap_memory.py     copies of KV blocks in host memory
"""
