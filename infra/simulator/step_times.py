"""What a step takes: by the requests that decode, the context they read, and prompt tokens.

    base(decode requests) + a x context tokens + b x prompt tokens + c x prompt tokens x context

`base` is a table by batch size, between whose points is a straight line. All of it comes from
measurements: of our own engine (`python -m infra.simulator measure`), or of what others published
(data/*.json names its sources). Both levels of the simulator ask here, one step or a thousand
replicas at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
DATA = Path(__file__).with_name("data")
_KNOTS = (1, 16, 64, 128, 256)
"""Batch sizes of the table that is fitted to published runs."""


class StepTimes(msgspec.Struct, frozen=True, kw_only=True):
    """One replica's hardware and model.

    Attributes:
        batches: sizes of `base_s`, rising from 1; beyond the last the last slope goes on.
        base_s: seconds of a step with so many decode requests of no context.
        empty_s: of a step with prompt tokens only, beside what the tokens take.
        context_s: more for each token of context that decode requests read.
        prompt_s: more for each prompt token.
        attended_s: more for each prompt token and each token before it.
        request_s: of other cores than the engine's, before a request's first step: HTTP, text.
        beside_s: instead of `prompt_s` where the step has decode requests too: chunks are small.
        token_s: of other cores than the engine's, to send a token and to read it.
        cores: of the machine that replicas share, if they do.
        shared_prompts, shared_decodes: by how much work takes longer while one, two, ... replicas
            compute there, beside their having less than a core each (`host.Host`).
    """

    model: str
    hardware: str
    source: str
    gpus: int
    batches: tuple[int, ...]
    base_s: tuple[float, ...]
    empty_s: float
    context_s: float
    prompt_s: float
    attended_s: float = 0.0
    request_s: float = 0.0
    beside_s: float | None = None
    token_s: float = 0.0
    cores: int = 1
    shared_prompts: tuple[float, ...] = (1.0,)
    shared_decodes: tuple[float, ...] = (1.0,)
    kv_tokens: int = 0
    max_num_seqs: int = 64
    hour_price: float = 0.0
    """US dollars of one GPU."""
    start_s: float = 0.0
    """From the wish for a replica until it is ready."""

    def base(self, batch: ArrayLike) -> Floats:
        """Seconds by decode requests alone; 0 of them: a step of prompts."""
        sizes, seconds = self.batches, self.base_s
        count = np.asarray(batch, float)
        found = np.interp(count, (0, *sizes), (self.empty_s, *seconds))
        if len(sizes) > 1:
            slope = (seconds[-1] - seconds[-2]) / (sizes[-1] - sizes[-2])
            found = found + np.maximum(count - sizes[-1], 0) * slope
        return np.asarray(found, float)

    def decode_s(self, batch: ArrayLike, context: ArrayLike) -> Floats:
        """A step without prompt tokens; `context`: of all its requests together."""
        return np.asarray(self.base(batch) + np.asarray(context, float) * self.context_s, float)

    def prefill_s(self, tokens: ArrayLike, before: ArrayLike, beside: int = 0) -> Floats:
        """What prompt tokens add, the first of which has `before` tokens before it.

        Args:
            beside: decode requests of the same step.
        """
        count = np.asarray(tokens, float)
        attended = count * (np.asarray(before, float) + count / 2)
        each_s = self.prompt_s if self.beside_s is None or not beside else self.beside_s
        return np.asarray(count * each_s + attended * self.attended_s, float)


class PublishedRun(msgspec.Struct, frozen=True):
    """A load of equal requests, `concurrency` of them at all times."""

    input: int
    output: int
    concurrency: int
    ttft_ms: float
    itl_ms: float
    tokens_s: float

    @property
    def running(self) -> float:
        """Requests that decode at once (Little's law): fewer than asked where memory was full."""
        return self.tokens_s * self.itl_ms / 1000

    @property
    def context(self) -> float:
        return self.running * (self.input + self.output / 2)


class Published(msgspec.Struct, frozen=True):
    """A file of published measurements, with where they are from."""

    model: str
    hardware: str
    gpus: int
    source: str
    max_num_seqs: int
    hour_price: float
    hour_price_source: str
    start_s: float
    start_source: str
    runs: tuple[PublishedRun, ...]


def load(name: str) -> StepTimes:
    """The step times of data/`name`.json: as measured, or fitted to what was published."""
    raw = (DATA / f"{name}.json").read_bytes()
    if b'"runs"' in raw:
        return fitted(msgspec.json.decode(raw, type=Published))
    return msgspec.json.decode(raw, type=StepTimes)


def published(name: str) -> Published:
    return msgspec.json.decode((DATA / f"{name}.json").read_bytes(), type=Published)


def fitted(published: Published) -> StepTimes:
    """Step times that explain published latencies.

    Prompts first, from the times to first token of single requests; then decode steps: the time
    between two tokens is a step and the part of a prompt's computation that falls on it.
    """
    single = [run for run in published.runs if run.concurrency == 1]
    lengths = np.array([run.input for run in single], float)
    ones = np.ones_like(lengths)
    ttft = np.array([run.ttft_ms for run in single]) / 1000
    # Each run counts by the ratio: the longest prompt shall not decide alone.
    columns = np.stack([ones, lengths, lengths**2 / 2], axis=1) / ttft[:, None]
    first_s, prompt_s, attended_s = _least_squares(columns, ones)

    def of_prompt(run: PublishedRun) -> float:
        return float(run.input * prompt_s + run.input**2 / 2 * attended_s)

    rows, steps = [], []
    for run in published.runs:
        busy_with_prompts = run.tokens_s / run.output * of_prompt(run)
        if busy_with_prompts > 0.8:
            continue  # what is left for decoding is the difference of two large numbers
        rows.append([*_hats(run.running, _KNOTS), run.context])
        steps.append(run.itl_ms / 1000 * (1 - busy_with_prompts))
    each = np.array(steps)[:, None]
    found = _least_squares(np.array(rows) / each, np.ones(len(steps)))
    base_s = np.maximum.accumulate(found[:-1])
    fullest = max(
        (
            run.running * (run.input + run.output)
            for run in published.runs
            if run.running < 0.95 * run.concurrency
        ),
        default=0.0,
    )
    return StepTimes(
        model=published.model,
        hardware=published.hardware,
        source=published.source,
        gpus=published.gpus,
        batches=_KNOTS,
        base_s=tuple(float(seconds) for seconds in base_s),
        empty_s=max(0.0, float(first_s)),
        context_s=float(found[-1]),
        prompt_s=float(prompt_s),
        attended_s=float(attended_s),
        kv_tokens=int(fullest),
        max_num_seqs=published.max_num_seqs,
        hour_price=published.hour_price,
        start_s=published.start_s,
    )


def _least_squares(columns: Floats, wanted: Floats) -> Floats:
    return np.asarray(np.linalg.lstsq(columns, wanted, rcond=None)[0], float)


def _hats(count: float, knots: Sequence[int]) -> list[float]:
    """The weights of the table's points for `count`, between two of them."""
    return [float(np.interp(count, knots, np.eye(len(knots))[at])) for at in range(len(knots))]
