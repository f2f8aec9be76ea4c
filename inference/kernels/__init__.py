"""The operations of a decoder around its matrix products, and the products of quantized matrices.

    batch.py     what a step looks like to them, and the KV cache of a layer
    backend.py   `Backend`, the operations by name, and how plain torch computes them
    cpu/         by C++, compiled when first needed
    gpu/         by Triton

Which one a model gets is decided where it is put together (`model/build.py`).
"""
