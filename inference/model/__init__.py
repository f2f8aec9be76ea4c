"""Weights, modules and the runner that computes a step.

config.py                    what a model is (one dataclass for the whole Llama family)
weights.py, open.py          one interface over GGUF files and Hugging Face folders
gguf_format.py, gguf_file.py, hf_folder.py   the two of them
build.py                     weights to a decoder
llama.py, layers.py, rope.py the decoder
batch.py                     a step's batch
backend.py, cpu/             the operations around the matrix products
runner.py                    chunks in, sampled tokens out
"""
