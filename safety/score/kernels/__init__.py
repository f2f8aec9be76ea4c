"""The sentence encoder in C++, for processors that have AVX2 or AVX-512 with VNNI.

- `vectors.h`     floats in vectors, exponential and GELU
- `product.h`     rounding of activations, products of bytes
- `encoder.cpp`   attention, norms, the layers; what Python calls
- `compile`       the library for this processor: built beforehand, else compiled once and kept
- `ahead`         builds the libraries for all processors, for an image that holds no compiler

`safety.score.compiled_encoder` is who calls it. Nothing here imports numpy or what is beside it: an
image's build needs this folder alone.
"""
