"""What the same machine does otherwise: transformers, and torch's bare products."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from inference.bench.workloads import Result


def transformers_static(model: Path, prompt: int, output: int) -> Result:
    """One stream through transformers' generate, float32, the same GGUF file."""
    from transformers import AutoModelForCausalLM

    network = AutoModelForCausalLM.from_pretrained(
        str(model.parent), gguf_file=model.name, dtype=torch.float32
    ).eval()
    ids = torch.randint(100, network.config.vocab_size, (1, prompt))

    def timed(count: int) -> float:
        began = time.perf_counter()
        network.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=count,
            min_new_tokens=count,
            do_sample=False,
            pad_token_id=0,
        )
        return time.perf_counter() - began

    timed(1)
    first = timed(1)
    whole = timed(output)
    step = (whole - first) / (output - 1)
    return Result(
        f"transformers float32, 1 stream, prompt {prompt}",
        ttft_ms=1e3 * first,
        tpot_ms=1e3 * step,
        itl_p99_ms=float("nan"),
        tokens_per_s=output / whole,
    )


def machine_limits() -> dict[str, float]:
    """Float32 GEMM rate and read bandwidth, best of several."""
    a, b = torch.randn(1024, 1024), torch.randn(1024, 1024)
    large = torch.randn(64 * 1024 * 1024)
    return {
        "gemm_gflops": 2 * 1024**3 / _best(lambda: torch.mm(a, b)) / 1e9,
        "read_gb_per_s": large.numel() * 4 / _best(large.sum) / 1e9,
    }


def _best(action: Callable[[], Tensor], times: int = 7) -> float:
    best = float("inf")
    for _ in range(times):
        began = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - began)
    return best
