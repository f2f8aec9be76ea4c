"""What decoders are made of, written against the operations of `inference/kernels`.

linear.py     a matrix that rows are multiplied with, however it is stored
rope.py       rotary positions
step.py       what the layers of one step share
attention.py  grouped-query attention over the paged cache
mlp.py        SwiGLU
experts.py    mixtures of experts
pre_norm.py   the layer of Llama and its relatives, which kernels compute as one operation
ends.py       token embedding, and logits after an RMS norm
ranks.py      what joins the parts of several ranks
"""
