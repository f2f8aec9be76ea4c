"""Our CPU kernels: compiled at first use, absent where there is no compiler.

kernels.cpp   the kernels' plain C interface, and which header holds what
compile.py    builds and loads them
backend.py    what the decoder sees of them
packed_linear.py   quantized matrices
memory.py     large pages for them
decode.py     all layers over a decode batch in one call
"""
