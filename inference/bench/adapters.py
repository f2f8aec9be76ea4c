"""`python -m inference.bench.adapters --model PATH`: what adapters side by side cost.

Steps with and without adapters take turns, in one process on the same weights: a decode batch of
eight requests at a context of 512, of which each has an adapter of its own, all have the same, or
none has one. The adapters are random ones of every product. Printed is the median of the ratios of
times to the base alone; with `--threads 1` of processor time, which other work on the machine
disturbs least.

With `--adapter FOLDER` instead: what rounding this adapter's numbers costs, as the perplexity of a
text with the base alone, and with the adapter in float32 and rounded, all beside int8 activations.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

import torch
from torch import Tensor

from inference.bench.perplexity import (
    decode_batch,
    perplexity_ratio,
    prompt_batch,
    read_tokens,
)
from inference.kernels.batch import Batch
from inference.kernels.low_rank import AdaptedRows, Adapter
from inference.model.adapters import AdapterTargets
from inference.model.build import build_decoder
from inference.model.files.open import open_weights
from inference.model.files.weights import WeightReader
from inference.model.kv_memory import allocate_caches
from inference.quantization.precision import Precision

_STREAMS = 8
_SLOTS = _STREAMS * 528
_ROUNDS = 25
_MAX_RANK = 64
_WINDOW = 512


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m inference.bench.adapters", description=__doc__)
    parser.add_argument("--model", required=True, help="a GGUF file or a Hugging Face folder")
    parser.add_argument("--ranks", type=int, nargs="+", default=[8, 16, 32])
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--adapter", type=Path, help="a folder as PEFT writes it")
    parser.add_argument("--text", type=Path, nargs="*", default=[], help="text files to read")
    parser.add_argument("--tokens", type=int, default=4096, help="of the text, at most")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    reader = open_weights(args.model)
    if args.adapter is not None:
        tokens = torch.tensor(read_tokens(args.model, args.text, limit=args.tokens))
        _compare(reader, args.adapter, tokens)
        return
    sys.stdout.write(
        f"{Path(args.model).name}, {_STREAMS} requests, {torch.get_num_threads()} threads\n\n"
        "| activations | rank | MB an adapter | base alone | one adapter for all | one each |\n"
        "|---|--:|--:|--:|--:|--:|\n"
    )
    for int8 in (True, False):
        _measure(reader, args.ranks, int8=int8)


def _measure(reader: WeightReader, ranks: list[int], *, int8: bool) -> None:
    cpu, config = torch.device("cpu"), reader.config
    kept = torch.int8 if int8 else torch.float32
    targets = AdapterTargets(reader.architecture, config, kept, cpu, max(ranks))
    model = build_decoder(
        reader, torch.float32, cpu, Precision(int8_activations=int8), adapters=targets
    )
    caches = allocate_caches(_SLOTS, config, config.num_layers, torch.float16, cpu)

    clock = time.thread_time if torch.get_num_threads() == 1 else time.perf_counter

    def seconds(batch: Batch) -> float:
        began = clock()
        model(batch, caches)
        return clock() - began

    base = decode_batch(_STREAMS)
    with torch.inference_mode():
        for rank in ranks:
            adapters = [targets.random(rank) for _ in range(_STREAMS)]
            same = replace(base, adapters=(AdaptedRows(0, _STREAMS, adapters[0]),))
            own = tuple(AdaptedRows(i, i + 1, one) for i, one in enumerate(adapters))
            each = replace(base, adapters=own)
            times = [[seconds(batch) for batch in (base, same, each)] for _ in range(_ROUNDS)]
            alone = median(first for first, _, _ in times)
            one, eight = (median(row[i] / row[0] for row in times) - 1 for i in (1, 2))
            sys.stdout.write(
                f"| {'int8' if int8 else 'float32'} | {rank} | {adapters[0].nbytes / 1e6:.1f} "
                f"| {alone * 1e3:.1f} ms | {one:+.1%} | {eight:+.1%} |\n"
            )
            sys.stdout.flush()


def _compare(reader: WeightReader, folder: Path, tokens: Tensor) -> None:
    cpu, config = torch.device("cpu"), reader.config
    targets = AdapterTargets(reader.architecture, config, torch.float32, cpu, _MAX_RANK)
    model = build_decoder(
        reader, torch.float32, cpu, Precision(int8_activations=True), adapters=targets
    )
    caches = allocate_caches(_WINDOW, config, config.num_layers, torch.float16, cpu)

    def logprobs(adapter: Adapter | None) -> Tensor:
        """Of every token but each window's first, given those before it."""
        found = []
        for part in tokens.split(_WINDOW):
            batch = prompt_batch(part, torch.arange(len(part) - 1))
            if adapter is not None:
                batch = replace(batch, adapters=(AdaptedRows(0, len(part), adapter),))
            chances = model(batch, caches).log_softmax(-1)
            found.append(chances.gather(1, part[1:, None]).squeeze(1))
        return torch.cat(found)

    with torch.inference_mode():
        exact, _ = targets.load(folder)
        targets.dtype = torch.int8
        rounded, _ = targets.load(folder)
        wanted = logprobs(exact)
        sys.stdout.write(
            f"{len(tokens):,} tokens\n\n"
            "| adapter | MB | perplexity | to float32 |\n|---|--:|--:|--:|\n"
        )
        for name, adapter in (("none", None), ("float32", exact), ("rounded", rounded)):
            own = wanted if adapter is exact else logprobs(adapter)
            ratio, uncertain = perplexity_ratio(own, wanted)
            size = "" if adapter is None else f"{adapter.nbytes / 1e6:.1f}"
            sys.stdout.write(
                f"| {name} | {size} | {float(own.mean().neg().exp()):.3f} "
                f"| {ratio:.4f} ± {uncertain:.4f} |\n"
            )


if __name__ == "__main__":
    main()
