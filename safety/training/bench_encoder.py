"""`python -m safety.training.bench_encoder`: what a window costs by our kernels, beside onnxruntime
and beside what the processor can do; and whether both say the same of our own texts.

The bounds: all products of a window at the rate at which the processor multiplies from registers,
and, with cold caches, all weights once from memory. `--texts 0` leaves out the scores.
"""

import argparse
import random
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from safety.score.artefacts import read_checked, read_checked_bytes
from safety.score.classifier import ENCODER_FILE, MODEL_FILE, Classifier, word_pieces_in
from safety.score.compiled_encoder import SIZE, WIDE, compiled_layers
from safety.score.encoder import MAX_PIECES, Encoder, Layers, onnxruntime_layers
from safety.score.kernels import compile as kernels
from safety.training.example import OWN_DATA, lines

_PIECES = (12, 14, MAX_PIECES)
_LAYERS = 6
_WEIGHTS = _LAYERS * (4 * SIZE * SIZE + 2 * SIZE * WIDE)
_OTHER_MEMORY = np.zeros(64 << 20, dtype=np.uint8)
"""Touched before a call whose weights are to come from memory: twice what any cache here holds."""

_STOPS = {"harm from 0.8": (0, 0.8), "harm from 0.5": (0, 0.5), "an attack from 0.95": (1, 0.95)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, default=2_000)
    texts = parser.parse_args().texts
    graph = read_checked_bytes(ENCODER_FILE)
    ours = compiled_layers(graph)
    if ours is None:
        print(
            "This processor has no kernels of ours, or no compiler: onnxruntime runs the encoder."
        )
        return
    theirs = onnxruntime_layers(graph)
    for line in _costs(ours, theirs):
        print(line, flush=True)
    if texts:
        for line in _scores(graph, {"ours": ours, "onnxruntime": theirs}, texts):
            print(line, flush=True)


def _costs(ours: Layers, theirs: Layers) -> Iterator[str]:
    rate, bandwidth = _products_a_second(), _bytes_a_second()
    yield f"{rate / 1e9:.0f} billion products a second, {bandwidth / 1e9:.0f} GB/s from memory."
    yield "\n| pieces | caches | onnxruntime, ms | ours | times | bound | share of it |"
    yield "|--:|---|--:|--:|--:|--:|--:|"
    for pieces in _PIECES:
        vectors = np.random.default_rng(pieces).normal(0, 0.3, (pieces, SIZE)).astype(np.float32)
        for cold in (False, True):
            before, now = _both(theirs, ours, vectors, cold)
            products = _WEIGHTS * pieces / rate
            bound = max(products, _WEIGHTS / bandwidth) if cold else products
            yield (
                f"| {pieces} | {'cold' if cold else 'warm'} | {before * 1e3:.2f} | {now * 1e3:.2f} "
                f"| {before / now:.2f} | {bound * 1e3:.2f} | {bound / now:.0%} |"
            )


def _both(theirs: Layers, ours: Layers, vectors: np.ndarray, cold: bool) -> tuple[float, float]:
    """CPU seconds of a call of each, medians, measured in turns."""
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(60 if cold else 200):
        for run, found in zip((theirs, ours), taken, strict=True):
            if cold:
                _OTHER_MEMORY[::64] += 1
            found.append(_cpu_s(lambda run=run: run(vectors)))  # type: ignore[misc]
    return statistics.median(taken[0]), statistics.median(taken[1])


def _products_a_second() -> float:
    library = kernels.load()
    assert library is not None
    rounds, weights, out = 20_000, np.ones(64 + 64, dtype=np.int8), np.zeros(1, dtype=np.int32)
    aligned = weights[-weights.ctypes.data % 64 :]
    run = lambda: library.parley_encoder_products(  # noqa: E731
        rounds, np.ctypeslib.as_ctypes(aligned), np.ctypeslib.as_ctypes(out)
    )
    return rounds * run() / min(_cpu_s(run) for _ in range(50))


def _bytes_a_second() -> float:
    """Reading as much as the weights are, beside what was just touched."""
    read = np.ones(_WEIGHTS // 8, dtype=np.int64)
    taken = []
    for _ in range(20):
        _OTHER_MEMORY[::64] += 1
        taken.append(_cpu_s(read.max))
    return _WEIGHTS / statistics.median(taken)


def _cpu_s(run: Callable[[], object]) -> float:
    started = time.thread_time()
    run()
    return time.thread_time() - started


def _scores(graph: bytes, layers: dict[str, Layers], count: int) -> Iterator[str]:
    arrays = read_checked(MODEL_FILE)
    pieces = word_pieces_in(arrays)
    texts = _own_texts(count)
    found = {
        name: _estimates(Classifier(arrays, Encoder(pieces, graph, run), is_slow=False), texts)
        for name, run in layers.items()
    }
    ours, theirs = found.values()
    apart = np.abs(ours - theirs)
    shares = ", ".join(
        f"{(apart > limit).mean():.1%} by more than {limit}" for limit in (1e-3, 1e-2)
    )
    yield f"\nOf the scores of {len(texts)} texts {shares}, none by more than {apart.max():.3f}.\n"
    yield "| stopped by | onnxruntime | ours | by one of them |\n|---|--:|--:|--:|"
    for name, (head, limit) in _STOPS.items():
        a, b = theirs[:, head] >= limit, ours[:, head] >= limit
        yield f"| {name} | {a.sum()} | {b.sum()} | {(a != b).sum()} |"


def _own_texts(count: int) -> list[str]:
    found = [text for path in sorted(Path(OWN_DATA).rglob("*.txt")) for text in lines(path)]
    random.Random(2).shuffle(found)
    return found[:count]


def _estimates(model: Classifier, texts: list[str]) -> np.ndarray:
    """Harm and attack of each text, [texts, 2]."""
    found = (model.estimate(model.normalized(text)) for text in texts)
    return np.array([(estimate.harmful, estimate.attack) for estimate in found])


if __name__ == "__main__":
    main()
