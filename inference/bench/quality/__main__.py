"""`python -m inference.bench.quality --model PATH`: how good the answers are, for each way of
computing them.

Greedy answers of at most 320 tokens to prompts of ours, each checked by a program; the loops that
the engine ended, over all answers; and the perplexity of a text.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch

from inference.bench import perplexity
from inference.bench.engine import served
from inference.bench.quality import arithmetic, instructions, ordinary, structured, tools
from inference.bench.quality.case import Asker, Case
from inference.quantization.precision import Precision

_WAYS: dict[str, tuple[Sequence[str], perplexity.Way]] = {
    "float32": ((), (Precision(), torch.float32)),
    "int8 activations, KV in float16": (
        ("--int8-activations",),
        (Precision(int8_activations=True), torch.float16),
    ),
}
"""Options of the server, and the same for the perplexity."""
_TASKS = {
    "instructions followed": instructions.cases,
    "arithmetic": arithmetic.cases,
    "JSON asked for in words": structured.by_words,
    "JSON by a schema": structured.by_schema,
    "ordinary prompts answered": ordinary.cases,
}
_PARALLEL = 8
_PERPLEXITY_TOKENS = 2048


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m inference.bench.quality", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--model", type=Path, nargs="+", required=True)
    parser.add_argument("--way", choices=_WAYS, action="append", help="default: all")
    parser.add_argument("--tools", action="store_true", help="only how it calls functions")
    args = parser.parse_args()
    write = sys.stdout.write
    write("| model | computed in | measured | |\n|---|---|---|---|\n")
    for model in args.model:
        for way in args.way or _WAYS:
            for name, figure in _measured(model, way, only_tools=args.tools):
                write(f"| {model.name} | {way} | {name} | {figure} |\n")
                sys.stdout.flush()


def _measured(model: Path, way: str, *, only_tools: bool) -> Iterator[tuple[str, str]]:
    """Each figure's name and the figure."""
    options, computed = _WAYS[way]
    with served(model, options) as url, ThreadPoolExecutor(_PARALLEL) as pool:
        asker, loops, asked = Asker(url), 0, 0

        def is_right(case: Case) -> bool:
            nonlocal loops, asked
            answer = asker.answer(case)
            loops, asked = loops + answer.looped, asked + 1
            return case.is_right(answer.text)

        for name, cases in () if only_tools else _TASKS.items():
            yield name, _rate(list(pool.map(is_right, cases())))
        for name, calls in tools.rates(asker).items():
            yield name, _rate(list(pool.map(lambda call: call(), calls)))
        if only_tools:
            return
        yield "answers that went into a loop", f"{loops} of {asked}"
    tokens = perplexity.read_tokens(str(model), limit=_PERPLEXITY_TOKENS)
    logprobs = perplexity.text_logprobs(str(model), computed, tokens)
    yield "perplexity", f"{(-logprobs.mean()).exp().item():.3f}"


def _rate(right: list[bool]) -> str:
    return f"{sum(right)} of {len(right)} ({sum(right) / len(right):.0%})"


if __name__ == "__main__":
    main()
