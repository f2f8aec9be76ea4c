"""`python -m inference.bench.perplexity --model PATH`: what fewer bits cost and give.

For every way to keep the weights, and the keys and values: perplexity on a fixed text
(perplexity_text.txt, ours), memory of the weights, processor time of a decode step and of a
prompt on one thread.
Processor time, so that a machine that does something else tells the same.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import exp
from pathlib import Path

import torch

from inference.errors import ModelLoadError
from inference.kernels.batch import Batch, DecodeBatch, LayerCache, PrefillChunk
from inference.model.build import build_model
from inference.model.decoder import Decoder
from inference.model.files.open import open_weights
from inference.model.kv_memory import allocate_caches
from inference.quantization.precision import Precision
from inference.text.load import load_text

_TEXT = Path(__file__).with_name("perplexity_text.txt")
_Way = tuple[Precision, torch.dtype]
"""Of the weights, and what keys and values are kept in."""
_QUANTIZED: dict[str, _Way] = {
    "as the file has it": (Precision(), torch.float32),
    "the same, KV in bfloat16": (Precision(), torch.bfloat16),
    "the same, KV in int8": (Precision(), torch.int8),
    "the same, KV in float16": (Precision(), torch.float16),
    "the same, int8 activations": (Precision(int8_activations=True), torch.float16),
}
_DENSE: dict[str, _Way] = {
    "float32": (Precision(), torch.float32),
    "float32, KV in int8": (Precision(), torch.int8),
    "int8 weights": (Precision("int8"), torch.float32),
    "int4 weights": (Precision("int4"), torch.float32),
    "int8 weights and activations": (Precision("int8", int8_activations=True), torch.float16),
    "int4 weights, int8 activations": (Precision("int4", int8_activations=True), torch.float16),
}
_PROMPT = 512
_CONTEXT = 256
_BLOCK = 16
_REPEATS = 5


@dataclass(frozen=True)
class Figures:
    """What one way to keep the weights gave."""

    perplexity: float
    weight_mb: float
    decode_ms: float
    prompt_s: float


def measure(
    path: str, precision: Precision, kv_dtype: torch.dtype, token_ids: list[int]
) -> Figures:
    """Load the model that way and try it.

    Raises:
        ModelLoadError: when it cannot be had on this machine.
    """
    model = build_model(open_weights(path), torch.float32, torch.device("cpu"), precision)
    room = max(len(token_ids), _PROMPT) + _BLOCK
    slots, config = -(-room // _BLOCK) * _BLOCK, model.config
    weight_mb = _tensor_bytes() / 1e6
    caches = allocate_caches(slots, config, config.num_layers, kv_dtype, torch.device("cpu"))
    prompt = torch.tensor((token_ids * (_PROMPT // len(token_ids) + 1))[:_PROMPT])
    with torch.inference_mode():
        return Figures(
            perplexity=_perplexity(model, caches, torch.tensor(token_ids)),
            weight_mb=weight_mb,
            decode_ms=1e3 * _best(lambda: model(_stream(prompt[:1], _CONTEXT), caches)),
            prompt_s=_best(lambda: model(_chunk(prompt, prompt[:1] * 0), caches)),
        )


def _perplexity(model: Decoder, caches: list[LayerCache], token_ids: torch.Tensor) -> float:
    """Of every token but the first, given all before it."""
    rows = torch.arange(len(token_ids) - 1)
    logprobs = model(_chunk(token_ids, rows), caches).log_softmax(-1)
    return exp(-float(logprobs.gather(1, token_ids[1:, None]).mean()))


def _chunk(token_ids: torch.Tensor, rows: torch.Tensor) -> Batch:
    slots = torch.arange(len(token_ids))
    return Batch(token_ids, slots, slots, None, (PrefillChunk(0, len(slots), 0, slots),), rows)


def _stream(token_id: torch.Tensor, position: int) -> Batch:
    at = torch.tensor([position])
    tables = torch.arange(position // _BLOCK + 1, dtype=torch.int32)[None]
    decode = DecodeBatch(tables, torch.tensor([position + 1], dtype=torch.int32), _BLOCK)
    return Batch(token_id, at, at, decode, (), torch.tensor([0]))


def _best(action: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(_REPEATS):
        began = time.process_time()
        action()
        best = min(best, time.process_time() - began)
    return best


def _tensor_bytes() -> int:
    """Of all tensors that live, each memory once."""
    gc.collect()
    storages = {
        storage.data_ptr(): storage.nbytes()
        for thing in gc.get_objects()
        if issubclass(type(thing), torch.Tensor) and (storage := thing.untyped_storage())
    }
    return sum(storages.values())


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m inference.bench.perplexity", description=__doc__
    )
    parser.add_argument("--model", required=True, help="a GGUF file or a Hugging Face folder")
    args = parser.parse_args()
    torch.set_num_threads(1)
    token_ids = load_text(args.model)[0].encode(_TEXT.read_text())
    write = sys.stdout.write
    write(f"{Path(args.model).name}, {len(token_ids)} tokens of text\n\n")
    write(f"| | perplexity | weights MB | decode step ms | prompt of {_PROMPT}, s |\n")
    write("|---|---|---|---|---|\n")
    quantized = open_weights(args.model).read_packed("layers.0.attn.q") is not None
    for name, (precision, kv_dtype) in (_QUANTIZED if quantized else _DENSE).items():
        try:
            found = measure(args.model, precision, kv_dtype, token_ids)
        except ModelLoadError as error:
            write(f"| {name} | {error} | | | |\n")
            continue
        write(
            f"| {name} | {found.perplexity:.3f} | {found.weight_mb:.0f} | {found.decode_ms:.1f} "
            f"| {found.prompt_s:.2f} |\n"
        )


if __name__ == "__main__":
    main()
