"""`python -m inference.bench.perplexity --model PATH`: what fewer bits cost and give.

For every way to keep the weights, activations, keys and values: perplexity, its ratio to float32
with the ratio's standard error, the weights' memory, and the model's speed by the clock (without
sampling and HTTP): decode tokens a second of one stream and of eight, prompt tokens a second.

The text is perplexity_text.txt (ours) and then the language reference that every Python carries
(`pydoc_data.topics`), or the files of `--text`. It is read in windows of `--window` tokens. Both
ways read the same tokens, so the ratio is known far better than the perplexity itself; 644 tokens
are still too few to tell 0.5 %.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import exp, sqrt
from pathlib import Path
from pydoc_data.topics import topics

import torch

from inference.errors import ModelLoadError
from inference.kernels.batch import Batch, DecodeBatch, LayerCache, PrefillChunk
from inference.model.build import build_decoder
from inference.model.decoder import Decoder
from inference.model.files.open import open_weights
from inference.model.kv_memory import allocate_caches
from inference.quantization.precision import Precision
from inference.text.load import load_text

_TEXT = Path(__file__).with_name("perplexity_text.txt")
Way = tuple[Precision, torch.dtype]
"""Of weights and activations, and what keys and values are kept in."""
_FLOAT32: Way = (Precision(), torch.float32)
_INT8 = Precision(int8_activations=True)
_QUANTIZED: dict[str, Way] = {
    "the file's weights, float32": _FLOAT32,
    "KV in bfloat16": (Precision(), torch.bfloat16),
    "KV in float16": (Precision(), torch.float16),
    "KV in int8": (Precision(), torch.int8),
    "int8 activations, KV in float16": (_INT8, torch.float16),
    "int8 activations, KV in int8": (_INT8, torch.int8),
}
_DENSE: dict[str, Way] = {
    "float32": _FLOAT32,
    "KV in float16": (Precision(), torch.float16),
    "KV in int8": (Precision(), torch.int8),
    "int8 weights": (Precision("int8"), torch.float32),
    "int4 weights": (Precision("int4"), torch.float32),
    "int8 weights and activations, KV in float16": (Precision("int8", True), torch.float16),
    "int4 weights, int8 activations, KV in float16": (Precision("int4", True), torch.float16),
}
_WINDOW = 1024
_PROMPT = 512
_CONTEXT = 512
_STREAMS = (1, 8)
_BLOCK = 16
_REPEATS = 5
_STEPS = 8


@dataclass(frozen=True)
class Figures:
    """What one way to keep the numbers gave.

    Attributes:
        logprobs: as `text_logprobs` gives them.
        decode: tokens a second by number of streams.
        prefill: prompt tokens a second.
    """

    logprobs: torch.Tensor
    weight_mb: float
    decode: dict[int, float]
    prefill: float

    @property
    def perplexity(self) -> float:
        return exp(-float(self.logprobs.mean()))


def perplexity_ratio(logprobs: torch.Tensor, exact: torch.Tensor) -> tuple[float, float]:
    """One perplexity to another of the same tokens, and the standard error of that."""
    differences = exact - logprobs
    ratio = exp(float(differences.mean()))
    return ratio, ratio * float(differences.std()) / sqrt(len(differences))


def read_tokens(model: str, files: Sequence[Path] = (), *, limit: int) -> list[int]:
    """The first `limit` tokens of `files`, or of the text that is always there."""
    texts = [file.read_text() for file in files]
    if not files:
        texts = [_TEXT.read_text(), *(topics[name] for name in sorted(topics))]
    return load_text(model)[0].encode("\n\n".join(texts))[:limit]


def text_logprobs(
    path: str, way: Way, token_ids: Sequence[int], window: int = _WINDOW
) -> torch.Tensor:
    """Of every token but each window's first, given those before it.

    Raises:
        ModelLoadError: when the model cannot be had that way on this machine.
    """
    return _text_logprobs(*_load(path, way, window), torch.tensor(token_ids), window)


def measure(path: str, way: Way, token_ids: Sequence[int], window: int) -> Figures:
    """Load the model that way and try it.

    Raises:
        ModelLoadError: when it cannot be had on this machine.
    """
    model, caches = _load(path, way, window)
    weight_mb = (
        _tensor_bytes() - sum(part.nbytes for cache in caches for part in cache.parts)
    ) / 1e6
    tokens = torch.tensor(token_ids)
    prompt = tokens.repeat(_PROMPT // len(tokens) + 1)[:_PROMPT]
    with torch.inference_mode():
        return Figures(
            logprobs=_text_logprobs(model, caches, tokens, window),
            weight_mb=weight_mb,
            decode={
                streams: streams * _rate(partial(model, decode_batch(streams), caches), _STEPS)
                for streams in _STREAMS
            },
            prefill=_PROMPT * _rate(lambda: model(prompt_batch(prompt, prompt[:1] * 0), caches)),
        )


def _load(path: str, way: Way, window: int) -> tuple[Decoder, list[LayerCache]]:
    precision, kv_dtype = way
    cpu = torch.device("cpu")
    model = build_decoder(open_weights(path), torch.float32, cpu, precision)
    slots = max(window, _PROMPT, max(_STREAMS) * (_CONTEXT + _BLOCK))
    caches = allocate_caches(slots, model.config, model.config.num_layers, kv_dtype, cpu)
    return model, caches


def _text_logprobs(
    model: Decoder, caches: list[LayerCache], token_ids: torch.Tensor, window: int
) -> torch.Tensor:
    with torch.inference_mode():
        return torch.cat([_logprobs(model, caches, part) for part in token_ids.split(window)])


def _logprobs(model: Decoder, caches: list[LayerCache], token_ids: torch.Tensor) -> torch.Tensor:
    """Of every token but the first, given all before it."""
    if len(token_ids) < 2:
        return torch.empty(0)
    rows = torch.arange(len(token_ids) - 1)
    logprobs = model(prompt_batch(token_ids, rows), caches).log_softmax(-1)
    return logprobs.gather(1, token_ids[1:, None]).squeeze(1)


def prompt_batch(token_ids: torch.Tensor, rows: torch.Tensor) -> Batch:
    """A prompt alone in a step, with the logits of these of its tokens."""
    slots = torch.arange(len(token_ids))
    return Batch(token_ids, slots, slots, None, (PrefillChunk(0, len(slots), 0, slots),), rows)


def decode_batch(streams: int, context: int = _CONTEXT) -> Batch:
    """A step of `streams` sequences, each at its token `context`."""
    width = context // _BLOCK + 1
    tables = torch.arange(streams * width, dtype=torch.int32).view(streams, width)
    positions = torch.full((streams,), context)
    slots = tables[:, -1].long() * _BLOCK + context % _BLOCK
    decode = DecodeBatch(tables, (positions + 1).int(), _BLOCK)
    return Batch(torch.arange(streams) + 1, positions, slots, decode, (), torch.arange(streams))


def _rate(action: Callable[[], object], times: int = 1) -> float:
    """How often a second, at best; by the clock, since all threads work."""
    best = float("inf")
    for _ in range(_REPEATS):
        began = time.perf_counter()
        for _ in range(times):
            action()
        best = min(best, (time.perf_counter() - began) / times)
    return 1 / best


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
    parser.add_argument("--text", type=Path, nargs="*", default=[], help="text files to read")
    parser.add_argument("--tokens", type=int, default=8192, help="of the text, at most")
    parser.add_argument("--window", type=int, default=_WINDOW, help="tokens that are read at once")
    parser.add_argument("--threads", type=int, help="default: all cores")
    parser.add_argument("--ways", nargs="*", help="by the beginnings of their names; default: all")
    args = parser.parse_args()
    if args.threads:
        torch.set_num_threads(args.threads)
    token_ids = read_tokens(args.model, args.text, limit=args.tokens)
    write = sys.stdout.write
    write(f"{Path(args.model).name}, {len(token_ids):,} tokens of text, ")
    write(f"{torch.get_num_threads()} threads; tokens/s at a context of {_CONTEXT}\n\n")
    write("| | perplexity | to float32 | weights MB | decode, 1 | decode, 8 | prompt |\n")
    write("|---|---|---|---|---|---|---|\n")
    quantized = open_weights(args.model).read_packed("layers.0.attn.q") is not None
    exact: Figures | None = None
    ways = _QUANTIZED if quantized else _DENSE
    for name, way in ways.items():
        if args.ways and exact and not name.startswith(tuple(args.ways)):
            continue  # the first is what the others are compared with
        try:
            found = measure(args.model, way, token_ids, args.window)
        except ModelLoadError as error:
            write(f"| {name} | {error} | | | | | |\n")
            continue
        exact = exact or found
        ratio, uncertain = perplexity_ratio(found.logprobs, exact.logprobs)
        write(
            f"| {name} | {found.perplexity:.3f} | {ratio:.4f} ± {uncertain:.4f} "
            f"| {found.weight_mb:.0f} | {found.decode[1]:.0f} | {found.decode[8]:.0f} "
            f"| {found.prefill:,.0f} |\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
