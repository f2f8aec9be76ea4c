"""What became of the requests of a run, real or simulated, and figures of them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np


@dataclass(slots=True)
class Outcome:
    """One request. Times are seconds of the run; `first_s` and `done_s` of one that completed.

    Attributes:
        replica: where it ended.
        attempts: replicas that it was sent to.
    """

    conversation: int
    turn: int
    arrived_s: float
    state: Literal["completed", "refused", "failed"]
    replica: str = ""
    first_s: float = 0.0
    done_s: float = 0.0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    attempts: int = 1

    @property
    def ttft_s(self) -> float:
        return self.first_s - self.arrived_s


@dataclass(frozen=True, slots=True)
class Summary:
    """Of completed requests. `output_per_s`: from the first arrival to the last end."""

    requests: int
    completed: int
    refused: int
    failed: int
    ttft_mean_s: float
    ttft_p50_s: float
    ttft_p95_s: float
    ttft_p99_s: float
    itl_mean_s: float
    output_per_s: float
    cached_share: float
    busiest: float
    """The busiest replica's requests over a fair share."""


def summarized(outcomes: Sequence[Outcome], replicas: int) -> Summary:
    """Raises ValueError where nothing completed."""
    done = [one for one in outcomes if one.state == "completed"]
    if not done:
        raise ValueError("no request completed")
    ttft = np.array([one.ttft_s for one in done])
    gaps = sum(one.output_tokens - 1 for one in done)
    decoding = sum(one.done_s - one.first_s for one in done)
    took = max(one.done_s for one in done) - min(one.arrived_s for one in outcomes)
    by_replica = np.unique([one.replica for one in done], return_counts=True)[1]
    return Summary(
        requests=len(outcomes),
        completed=len(done),
        refused=sum(one.state == "refused" for one in outcomes),
        failed=sum(one.state == "failed" for one in outcomes),
        ttft_mean_s=float(ttft.mean()),
        ttft_p50_s=float(np.percentile(ttft, 50)),
        ttft_p95_s=float(np.percentile(ttft, 95)),
        ttft_p99_s=float(np.percentile(ttft, 99)),
        itl_mean_s=decoding / max(1, gaps),
        output_per_s=sum(one.output_tokens for one in done) / took,
        cached_share=sum(one.cached_tokens for one in done)
        / max(1, sum(one.prompt_tokens for one in done)),
        busiest=float(by_replica.max()) * replicas / len(done),
    )
