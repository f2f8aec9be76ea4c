"""How tensors are handed to the kernels."""

from __future__ import annotations

import ctypes

from torch import Tensor


def at(tensor: Tensor | None) -> ctypes.c_void_p | None:
    """The tensor's memory. The caller keeps the tensor alive, and contiguous."""
    return None if tensor is None else ctypes.c_void_p(tensor.data_ptr())
