"""`python -m inference.bench.prefill --model PATH`: where the time of a prompt goes.

The model alone, int8 activations, a prompt of 512 tokens; on one thread in processor time, which
other work on the machine disturbs least. Beside it stands what torch's int8 products reach on the
same thread, and how much of that the whole prompt does.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import torch

from inference.bench.limits import Machine
from inference.bench.perplexity import prompt_batch
from inference.kernels.cpu.backend import CpuBackend
from inference.kernels.cpu.packed_linear import PackedLinear
from inference.model.build import build_decoder
from inference.model.files.open import open_weights
from inference.model.kv_memory import allocate_caches
from inference.quantization.precision import Precision

_PROMPT = 512
_ROUNDS = 3
_PARTS = {
    "both products of the MLP, SwiGLU and rounding": (CpuBackend, "mlp"),
    "products of attention and logits": (PackedLinear, "__call__"),
    "attention": (CpuBackend, "attend_prefill"),
    "norms": (CpuBackend, "add_rms_norm"),
    "rotation and cache": (CpuBackend, "rotate_and_cache"),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m inference.bench.prefill", description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="a GGUF file or a folder")
    args = parser.parse_args()
    torch.set_num_threads(1)
    seconds: dict[str, float] = defaultdict(float)
    for name, (owner, method) in _PARTS.items():
        setattr(owner, method, _timed(getattr(owner, method), name, seconds))
    reader, cpu = open_weights(str(args.model)), torch.device("cpu")
    config = reader.config
    model = build_decoder(reader, torch.float32, cpu, Precision(int8_activations=True))
    caches = allocate_caches(_PROMPT, config, config.num_layers, torch.float16, cpu)
    tokens = torch.arange(_PROMPT) % config.vocab_size
    batch = prompt_batch(tokens, tokens[:1])
    runs = []
    with torch.inference_mode():
        model(batch, caches)
        for _ in range(_ROUNDS):
            seconds.clear()
            began = time.thread_time()
            model(batch, caches)
            runs.append((time.thread_time() - began, dict(seconds)))
    whole, parts = min(runs, key=lambda run: run[0])
    machine = Machine.measure(time.thread_time)
    write = sys.stdout.write
    write(f"{args.model.name}, {_PROMPT / whole:,.1f} tokens/s of processor time\n\n")
    write("| part | of the time |\n|---|--:|\n")
    for name, part in parts.items():
        write(f"| {name} | {part / whole:.1%} |\n")
    write(f"| the rest | {1 - sum(parts.values()) / whole:.1%} |\n\n")
    write(f"{machine.int8_prefill_s(config, _PROMPT) / whole:.0%} of the int8 product rate ")
    write(f"({machine.int8_gops:,.0f} GOP/s).\n")


def _timed(call: Callable[..., Any], name: str, seconds: dict[str, float]) -> Callable[..., Any]:
    @wraps(call)
    def timed(*args: Any, **options: Any) -> Any:
        began = time.thread_time()
        try:
            return call(*args, **options)
        finally:
            seconds[name] += time.thread_time() - began

    return timed


if __name__ == "__main__":
    main()
