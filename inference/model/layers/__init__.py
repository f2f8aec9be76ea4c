"""What decoders are made of, written against the operations of `inference/kernels`.

linear.py     a matrix that rows are multiplied with, however it is stored
rope.py       rotary positions
step.py       what the layers of one step share
attention.py  grouped-query attention over the paged cache
mlp.py        SwiGLU, GeGLU
experts.py    mixtures of experts
scores.py     attention that caps its scores, or has sinks, by plain torch
pre_norm.py   the layer of Llama and its relatives, which kernels compute as one operation
normed_branches.py  the layer of those that norm or scale what a branch adds
ends.py       token embedding, and logits after an RMS norm
ranks.py      what joins the parts of several ranks
"""
