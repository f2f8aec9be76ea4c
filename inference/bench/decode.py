"""`python -m inference.bench.decode --model PATH`: decode steps by context, and what memory allows.

The model alone with int8 activations and keys and values in float16, as `make run` has it, and keys
and values that no prompt has computed: random ones in blocks of a scattered order, so that 32,000
tokens of context take seconds to make. For each context and number of streams: tokens a second, and
which part that is of what the measured read bandwidth allows, where a step reads all weights once
and all keys and values; then attention alone, and at what rate it reads. Medians; on one thread of
processor time, which other work on the machine disturbs least.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

import psutil
import torch
from torch import Tensor

from inference.bench.limits import Machine, bytes_of_step
from inference.bench.perplexity import decode_batch
from inference.kernels.batch import Batch, LayerCache
from inference.kernels.cpu.backend import CpuBackend
from inference.kernels.cpu.compile import load_kernels
from inference.model.build import build_decoder
from inference.model.config import ModelConfig
from inference.model.decoder import Decoder
from inference.model.files.open import open_weights
from inference.model.kv_memory import allocate_caches, token_bytes
from inference.quantization.precision import Precision

_KEPT = torch.float16
_STEPS = 9
_DRAWN = 1 << 20
"""Random numbers, which caches repeat."""
_HEADS = (
    "| context | streams | tokens/s | ms a step | least ms here | of it | attention ms | GB/s |\n"
    "|--:|--:|--:|--:|--:|--:|--:|--:|\n"
)


def main(argv: list[str] | None = None) -> None:
    args = _parser().parse_args(argv)
    torch.set_num_threads(args.threads)
    clock = time.thread_time if args.threads == 1 else time.perf_counter
    machine, reader = Machine.measure(clock), open_weights(str(args.model))
    read_per_s = machine.read_gb_per_s * 1e9
    cpu, config = torch.device("cpu"), reader.config
    model = build_decoder(reader, torch.float32, cpu, Precision(int8_activations=True))
    weight_bytes = bytes_of_step(args.model, reader)
    write = sys.stdout.write
    write(f"{args.model.name}, {args.threads} threads, ")
    write(f"reading {machine.read_gb_per_s:.1f} GB/s\n\n{_HEADS}")
    for context in args.contexts:
        for streams in args.streams:
            needed = streams * context * token_bytes(config, config.num_layers, _KEPT)
            if needed > psutil.virtual_memory().available / 2:
                write(f"| {context:,} | {streams} | needs {needed / 1e9:.1f} GB | | | | | |\n")
                continue
            whole, attention = _measure(model, config, streams, context, clock)
            least = (weight_bytes + needed) / read_per_s
            write(
                f"| {context:,} | {streams} | {streams / whole:.1f} | {1e3 * whole:.1f} "
                f"| {1e3 * least:.1f} | {least / whole:.0%} | {1e3 * attention:.1f} "
                f"| {needed / attention / 1e9:.1f} |\n"
            )
            sys.stdout.flush()


def _measure(
    model: Decoder, config: ModelConfig, streams: int, context: int, clock: Callable[[], float]
) -> tuple[float, float]:
    """Seconds of a step, and of attention alone."""
    batch = _scattered(decode_batch(streams, context))
    assert batch.decode is not None
    caches = _filled(batch.decode.tables.numel() * batch.decode.block_size, config)
    with torch.inference_mode():
        whole = _median(lambda: model(batch, caches), clock)
        attention = _median(_attention(batch, caches, config), clock)
    return whole, attention


def _attention(batch: Batch, caches: list[LayerCache], config: ModelConfig) -> Callable[[], None]:
    """Attention of all layers."""
    if (kernels := load_kernels()) is None or batch.decode is None:
        raise SystemExit("there are no CPU kernels to measure")
    backend, decode = CpuBackend(kernels), batch.decode
    queries = torch.randn(len(batch.token_ids), config.num_heads, config.head_dim)
    out = torch.empty_like(queries)

    def attend() -> None:
        for cache in caches:
            backend.attend_decode(queries, cache, decode, out, None)

    return attend


def _scattered(batch: Batch) -> Batch:
    """The same with blocks handed out in a scattered order."""
    decode = batch.decode
    assert decode is not None
    order = torch.randperm(decode.tables.numel(), generator=torch.Generator().manual_seed(0))
    tables = order.view(decode.tables.shape).int()
    slots = tables[:, -1].long() * decode.block_size + batch.positions % decode.block_size
    return replace(batch, decode=replace(decode, tables=tables), slots=slots)


def _filled(slots: int, config: ModelConfig) -> list[LayerCache]:
    caches = allocate_caches(slots, config, config.num_layers, _KEPT, torch.device("cpu"))
    drawn = torch.randn(_DRAWN).to(_KEPT)
    for cache in caches:
        for part in (cache.keys, cache.values):
            for some in part.view(-1).split(_DRAWN):
                some.copy_(drawn[: len(some)])
    return caches


def _median(action: Callable[[], Tensor | None], clock: Callable[[], float]) -> float:
    action()

    def seconds() -> float:
        began = clock()
        action()
        return clock() - began

    return median(seconds() for _ in range(_STEPS))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m inference.bench.decode", description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="a GGUF file or a folder")
    parser.add_argument("--contexts", nargs="+", type=int, default=[512, 2048, 8192, 32000])
    parser.add_argument("--streams", nargs="+", type=int, default=[1, 8])
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    return parser


if __name__ == "__main__":
    main()
