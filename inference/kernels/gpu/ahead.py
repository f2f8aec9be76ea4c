"""`python -m inference.kernels.gpu.ahead [--capability 90]`: compiles every kernel, to machine
code, for a GPU that is not there.

The interpreter, in which the kernels are tested on a CPU, forgives what the compiler does not: a
variable that changes its type in a branch, say. Here the same wrappers are called that a model
calls, and each launch compiles only. What a kernel computes, this does not show.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from torch import Tensor
from triton.backends.compiler import GPUTarget
from triton.runtime import driver
from triton.runtime.jit import JITFunction

from inference.core import SamplingParams
from inference.kernels.batch import LayerCache
from inference.kernels.gpu.decode_attention import decode_attention
from inference.kernels.gpu.experts import DenseExperts, group_by_expert
from inference.kernels.gpu.norm import add_rms_norm
from inference.kernels.gpu.packed_experts import PackedExperts
from inference.kernels.gpu.packed_linear import TritonPackedLinear
from inference.kernels.gpu.prefill_attention import prefill_attention
from inference.kernels.gpu.rotary import rotate_and_cache
from inference.kernels.gpu.sampling import sample_rows
from inference.kernels.gpu.swiglu import swiglu
from inference.quantization.packed import PackedRows

_BLOCK, _DIM, _TOKENS = 16, 64, 20
_CPU = torch.device("cpu")


class _AbsentGPU:
    """What Triton asks of a driver before it launches anything."""

    def __init__(self, capability: int) -> None:
        self._target = GPUTarget("cuda", capability, 32)

    def get_current_target(self) -> GPUTarget:
        return self._target

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0


def compile_only(capability: int) -> None:
    """From now on, launches of kernels in this process compile for such a GPU and do no more."""
    launch = JITFunction.run

    def run(self: Any, *args: Any, grid: Any, warmup: bool, **options: Any) -> Any:
        return launch(self, *args, grid=grid, warmup=True, **options)

    driver.set_active(_AbsentGPU(capability))
    JITFunction.run = run


def launches(dtype: torch.dtype) -> dict[str, Callable[[], object]]:
    """Every kernel in every form that a model may need, by name."""

    def random(*shape: int) -> Tensor:
        return torch.randn(*shape).to(dtype)

    plain = LayerCache(*random(2, 4 * _BLOCK, 2, _DIM))
    scaled = LayerCache(
        *torch.zeros(2, 4 * _BLOCK, 2, _DIM, dtype=torch.int8), *torch.zeros(2, 4 * _BLOCK, 2)
    )
    tables = torch.zeros(_TOKENS, 4, dtype=torch.int32)
    lengths = torch.ones(_TOKENS, dtype=torch.int32)
    slots = torch.arange(_TOKENS)
    queries = random(_TOKENS, 4, _DIM)
    x, weight = random(_TOKENS, _DIM), random(_DIM)
    grouping = group_by_expert(slots[:, None] % 4, 4)
    params = [SamplingParams(max_tokens=1, top_k=40, top_p=0.9)] * 2
    found: dict[str, Callable[[], object]] = {
        "norm": partial(add_rms_norm, x, None, weight, 1e-5),
        "norm with residual": partial(add_rms_norm, x, x, weight, 1e-5),
        "swiglu": partial(swiglu, x),
        "experts": partial(
            DenseExperts(random(4, _DIM, _DIM)).product, x, grouping, choices=1, count=_TOKENS
        ),
        "sampling": partial(sample_rows, torch.randn(2, 5000), params, [0.5] * 2),
    }
    for kind, cache in (("", plain), (", int8", scaled)):
        qkv = random(_TOKENS, 8, _DIM)
        found |= {
            f"rotary{kind}": partial(rotate_and_cache, qkv, 2, x, x, cache, slots),
            f"decode attention{kind}": partial(
                decode_attention, queries, cache, tables, lengths, _BLOCK
            ),
            f"prefill attention{kind}": partial(prefill_attention, queries, cache, slots, 0),
        }
    for packed in (GGMLQuantizationType.Q4_1, GGMLQuantizationType.Q8_0):
        block, size = GGML_QUANT_SIZES[packed]
        data = torch.zeros(_DIM, _DIM // block * size, dtype=torch.uint8)
        rows = PackedRows(packed, data, _DIM)
        found[f"product from {packed.name}"] = partial(
            TritonPackedLinear(rows, None, _CPU, dtype), x
        )
        found[f"experts from {packed.name}"] = partial(
            PackedExperts([rows] * 4, _CPU).product, x, grouping, choices=1, count=_TOKENS
        )
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m inference.kernels.gpu.ahead", description=__doc__
    )
    parser.add_argument("--capability", type=int, default=90, help="80: A100, 89: L4, 90: H100")
    args = parser.parse_args()
    compile_only(args.capability)
    failed = 0
    for name, launch in launches(torch.bfloat16).items():
        began = time.process_time()
        try:
            launch()
            outcome = f"{time.process_time() - began:.1f} s"
        except Exception as error:  # the compiler's are of many kinds
            failed += 1
            outcome = f"FAILED: {error}"
        sys.stdout.write(f"{name:24} {outcome}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
