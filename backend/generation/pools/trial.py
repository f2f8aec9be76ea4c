"""Whether a model does worse than the one that it is tried beside: a sequential test.

Each answer of the candidate is good or bad. Wald's test holds the usual model's chance of a bad one
against that chance and a margin, after every answer: so a bad candidate is known after few, and
looking often makes no false alarm more likely. It is made twice: an answer is bad when it failed,
and when its first text came later than nine of ten of the usual model's.

Source: Wald 1945, "Sequential Tests of Statistical Hypotheses".
"""

import math
from collections import Counter
from dataclasses import dataclass, field

MIN_STABLE = 50
"""Answers of the usual model without which nothing is known of its latency."""
_FALSE_ALARM = 0.001
_MISSED = 0.05
_RETREAT_AT = math.log((1 - _MISSED) / _FALSE_ALARM)
_SLOW_SHARE = 0.1
_LEAST_FAILURES = 0.01
_GROWTH = 1.2


def latency_bucket(ttft_ms: int) -> int:
    """Of a histogram whose buckets are a fifth wider each than the one before."""
    return max(0, math.ceil(math.log(max(1, ttft_ms), _GROWTH)))


def bucket_ms(bucket: int) -> int:
    """The most that falls into it."""
    return round(_GROWTH**bucket)


@dataclass(slots=True)
class Answers:
    """What came of a model's answers. `ttft`: how many, by `latency_bucket`."""

    count: int = 0
    failed: int = 0
    ttft: Counter[int] = field(default_factory=Counter)

    @property
    def failure_rate(self) -> float:
        """With one good and one bad answer more than were seen: a few say little."""
        return (self.failed + 1) / (self.count + 2)

    def slow_from(self) -> int:
        """The bucket above which no more than a tenth lies."""
        above, total = 0, self.ttft.total()
        for bucket in sorted(self.ttft, reverse=True):
            above += self.ttft[bucket]
            if above > _SLOW_SHARE * total:
                return bucket
        return 0

    def slower_than(self, bucket: int) -> int:
        return sum(count for one, count in self.ttft.items() if one > bucket)


@dataclass(frozen=True, slots=True)
class Margins:
    """What a candidate may be worse by, as parts of its answers.

    Attributes:
        min_answers: of the candidate, before which nothing is decided.
    """

    failures: float
    slow: float
    min_answers: int


def worse_by(stable: Answers, candidate: Answers, margins: Margins) -> str:
    """Why the candidate is to be taken back; "" while nothing says so."""
    if candidate.count < margins.min_answers:
        return ""
    usual = max(_LEAST_FAILURES, stable.failure_rate if stable.count >= MIN_STABLE else 0)
    if _evidence(candidate.count, candidate.failed, usual, margins.failures) >= _RETREAT_AT:
        return (
            f"{candidate.failed} of {candidate.count} answers failed,"
            f" of the usual model's {stable.failed} of {stable.count}"
        )
    timed, limit = candidate.ttft.total(), stable.slow_from()
    slow = candidate.slower_than(limit)
    if stable.ttft.total() < MIN_STABLE or not timed:
        return ""
    usual = max(_SLOW_SHARE, (stable.slower_than(limit) + 1) / (stable.ttft.total() + 2))
    if _evidence(timed, slow, usual, margins.slow) >= _RETREAT_AT:
        return (
            f"{slow} of {timed} answers began later than after {bucket_ms(limit)} ms,"
            " as at most a tenth of the usual model's do"
        )
    return ""


def _evidence(count: int, bad: int, usual: float, margin: float) -> float:
    """The logarithm of how much likelier `bad` of `count` are with the margin than without."""
    worse = min(0.99, usual + margin)
    if worse <= usual:
        return 0.0
    return bad * math.log(worse / usual) + (count - bad) * math.log((1 - worse) / (1 - usual))
