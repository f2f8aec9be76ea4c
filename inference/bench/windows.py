"""`python -m inference.bench.windows`: what keys and values of one whole context take, of models in
which some layers have a window.

The engine's scheduler and block pools deal out the steps of a request that fills the context of
each published shape; nothing is computed. Printed is the most memory that its blocks took at once,
where all layers have the same blocks and where those with a window have their own.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass

import torch

from inference.cache.kv_cache_manager import KVCacheManager
from inference.config import EngineConfig
from inference.core import Request, SamplingParams
from inference.model.config import ModelConfig
from inference.model.kv_memory import token_bytes, windowed_blocks
from inference.scheduler.scheduler import Scheduler

_KEPT = torch.bfloat16


@dataclass(frozen=True)
class _Shape:
    name: str
    layers: int
    see_all: int
    window: int
    kv_heads: int
    head_dim: int
    context: int


_SHAPES = (
    _Shape("Gemma 2 9B", 42, 21, 4096, 8, 256, 8192),
    _Shape("Gemma 3 1B", 26, 4, 512, 1, 256, 32768),
    _Shape("Gemma 3 4B", 34, 5, 1024, 4, 256, 131072),
    _Shape("Gemma 3 27B", 62, 10, 1024, 16, 128, 131072),
    _Shape("gpt-oss-20b", 24, 12, 128, 8, 64, 131072),
    _Shape("Llama 4 Scout", 48, 12, 8192, 8, 128, 131072),
)


def main() -> None:
    argparse.ArgumentParser(
        prog="python -m inference.bench.windows", description=__doc__
    ).parse_args()
    _say("| model | layers with a window | context | the same blocks | blocks of their own | |")
    _say("|---|--:|--:|--:|--:|--:|")
    for shape in _SHAPES:
        same, own = most_memory(shape, one_table=True), most_memory(shape, one_table=False)
        _say(
            f"| {shape.name} | {shape.layers - shape.see_all} of {shape.layers}, {shape.window:,} "
            f"| {shape.context:,} | {same / 1e9:.2f} GB | {own / 1e9:.2f} GB | {own / same:.0%} |"
        )


def most_memory(shape: _Shape, *, one_table: bool) -> int:
    """Bytes of the blocks that one request of the whole context has at once."""
    config = EngineConfig(model="", one_block_table=one_table)
    model = _config(shape)
    size, blocks = config.block_size, -(-shape.context // config.block_size)
    kv = KVCacheManager(blocks, size, windowed=windowed_blocks(config, model))
    scheduler = Scheduler(config.scheduler, kv)
    scheduler.add(Request("one", [1] * (shape.context - 1), SamplingParams(max_tokens=2)))
    layers = [shape.layers] if one_table else [shape.see_all, shape.layers - shape.see_all]
    of_block = [size * token_bytes(model, count, _KEPT) for count in layers]
    most = 0
    while scheduler.has_work:
        [chunk] = scheduler.schedule()
        held = zip(kv.groups, of_block, strict=True)
        most = max(most, sum(group.pool.num_used * each for group, each in held))
        scheduler.complete(chunk, [1] if chunk.samples else ())
        if chunk.request.num_tokens >= shape.context:
            scheduler.finish(chunk.request)
    return most


def _config(shape: _Shape) -> ModelConfig:
    """Which layers have a window makes no difference here."""
    return ModelConfig(
        architecture=shape.name,
        vocab_size=2,
        hidden_size=1,
        intermediate_size=1,
        num_layers=shape.layers,
        num_heads=shape.kv_heads,
        num_kv_heads=shape.kv_heads,
        head_dim=shape.head_dim,
        rms_eps=0.0,
        max_position=shape.context,
        tied_embeddings=True,
        eos_token_ids=frozenset(),
        windows=dict.fromkeys(range(shape.layers - shape.see_all), shape.window),
    )


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
