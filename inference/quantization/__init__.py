"""Fewer bits for weights, and for activations where that is asked for.

    packed.py      quantized matrices as files have them
    folders/       those of Hugging Face folders, by their `quantization_config`
    precision.py   what is asked for
    rounding.py    dense matrices to the block formats of GGUF

There is one storage for quantized matrices, GGUF's blocks: what a file has is used as it
is, what is dense is rounded to it. The products lie beside the other kernels
(`kernels/cpu`, `kernels/gpu/packed_linear.py`). `python -m inference.bench.perplexity` shows what
each costs and gives.
"""
