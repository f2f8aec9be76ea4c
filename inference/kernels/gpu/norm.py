"""Residual addition and RMS norm, one program a row: the stream is read and written once."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor


def add_rms_norm(x: Tensor, delta: Tensor | None, weight: Tensor, eps: float) -> Tensor:
    """Add `delta` to `x` (rows, width) in place, then return x / rms(x) * weight."""
    rows, width = x.shape
    out = torch.empty_like(x)
    _add_rms_norm[(rows,)](
        x,
        x if delta is None else delta,
        weight,
        out,
        width,
        eps,
        HAS_DELTA=delta is not None,
        BLOCK=triton.next_power_of_2(width),
    )
    return out


@triton.jit
def _add_rms_norm(x, delta, weight, out, width, eps, HAS_DELTA: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * width
    at = tl.arange(0, BLOCK)
    inside = at < width
    values = tl.load(x + row + at, mask=inside, other=0.0)
    if HAS_DELTA:
        # Rounded to the stream's type before the norm, as the unfused operations do.
        values = values + tl.load(delta + row + at, mask=inside, other=0.0)
        tl.store(x + row + at, values, mask=inside)
    values = values.to(tl.float32)
    scale = 1.0 / tl.sqrt(tl.sum(values * values, axis=0) / width + eps)
    normed = values * scale * tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + row + at, normed.to(out.dtype.element_ty), mask=inside)
