"""Triton kernels for GPUs, and the backend that hands them to the decoder.

    norm.py               residual addition and RMS norm in one pass
    rotary.py             rotation of queries and keys, and their way into the KV cache
    swiglu.py             the activation between the two products of an MLP
    decode_attention.py   one query a sequence over paged KV, split for long contexts
    prefill_attention.py  a chunk's queries over its cached prefix and itself
    experts.py            products of a mixture of experts, grouped by expert
    packed_linear.py      products from int8 and 4-bit weights
    sampling.py           a token for each row: temperature, top-k, top-p, min-p, one number
    backend.py            `TritonBackend`
    ahead.py              compiles them all for a GPU that is not there

Every kernel is compared with plain torch in float64: on a CPU under TRITON_INTERPRET=1, on a
GPU as it is (`test_kernels.py`, `test_row_sampler.py`). Sums are kept in float32 whatever the
inputs.
"""
