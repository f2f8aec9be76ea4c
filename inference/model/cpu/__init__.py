"""Our CPU kernels: compiled at first use, absent where there is no compiler.

kernels.cpp   the kernels, plain C interface
compile.py    builds and loads them
backend.py    what the decoder sees of them
"""
