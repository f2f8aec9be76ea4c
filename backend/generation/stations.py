"""Where the time of one generation went: the moments at which it passed from station to station.

In the order of its life: `edge` (from the request's first byte to the gateway: authentication,
parsing, the stored turn), `admission` and within it `pre_check`, `queue`, `prefill` (from its place
at a replica to the replica's first chunk), `first_token` (until text may be sent), `decode`,
`post_check`, `buffer` (until Redis has the last event). No two overlap, so their sum is no more
than the whole. A generation that failed over tells of the process that ended it.
"""

import time
from dataclasses import dataclass

STATIONS = (
    "edge",
    "admission",
    "pre_check",
    "queue",
    "prefill",
    "first_token",
    "decode",
    "post_check",
    "buffer",
)


SERVER_TIMING = "Server-Timing"


@dataclass(slots=True)
class StationClock:
    """Moments by `time.monotonic()`; None: not reached.

    Attributes:
        arrived_at: the request's first byte; None in a process that continues a generation.
        started_at: the gateway has the request, or continues the generation.
        pre_check_at, pre_check_s: a part of the time until it was admitted.
        first_text_check_s: what the post-check had taken when the first text was released.
        post_check_s: what it took in all.
        generated_at: nothing more comes from a replica.
        stored_at: Redis has what was delivered.
    """

    started_at: float
    arrived_at: float | None = None
    admitted_at: float | None = None
    pre_check_at: float | None = None
    pre_check_s: float = 0.0
    granted_at: float | None = None
    answered_at: float | None = None
    first_text_at: float | None = None
    first_text_check_s: float = 0.0
    post_check_s: float = 0.0
    generated_at: float | None = None
    stored_at: float | None = None

    @classmethod
    def resumed(cls) -> "StationClock":
        """Of a generation that another process had admitted."""
        now = time.monotonic()
        return cls(now, admitted_at=now)

    def admitted(self) -> None:
        self.admitted_at = time.monotonic()

    def granted(self) -> None:
        self.granted_at = self.granted_at or time.monotonic()

    def answered(self) -> None:
        self.answered_at = self.answered_at or time.monotonic()

    def first_text(self, check_s: float) -> None:
        """Text was released for the first time, of whichever choice."""
        self.first_text_at = time.monotonic()
        self.first_text_check_s = check_s

    def generated(self, check_s: float) -> None:
        self.generated_at = time.monotonic()
        self.post_check_s = check_s

    def stored(self) -> None:
        self.stored_at = time.monotonic()

    def spans(self) -> list[tuple[str, float, float]]:
        """The stations that follow each other: name, begin and end. The one in which a generation
        was cut short ends where it was; checks are parts of others."""
        at = self.started_at if self.arrived_at is None else self.arrived_at
        passed: list[tuple[str, float, float]] = []
        for station, end in (
            ("edge", None if self.arrived_at is None else self.started_at),
            ("admission", None if self.admitted_at == self.started_at else self.admitted_at),
        ):
            if end is not None:
                passed.append((station, at, end))
                at = end
        for station, reached in (
            ("queue", self.granted_at),
            ("prefill", self.answered_at),
            ("first_token", self.first_text_at),
            ("decode", self.generated_at),
        ):
            end = reached or self.generated_at
            if self.admitted_at is None or end is None:
                return passed
            passed.append((station, at, max(at, end)))
            at = max(at, end)
            if reached is None:
                break
        if self.stored_at is not None:
            passed.append(("buffer", at, max(at, self.stored_at)))
        return passed

    def milliseconds(self) -> dict[str, float]:
        """How long each station took that was passed, in their order."""
        took = {name: end - begin for name, begin, end in self.spans()}
        if "admission" in took:
            took["pre_check"] = self.pre_check_s
            took["admission"] -= self.pre_check_s
        early = min(self.first_text_check_s, took.get("first_token", 0.0))
        late = min(self.post_check_s - self.first_text_check_s, took.get("decode", 0.0))
        if self.first_text_at is not None:
            took["first_token"] -= early
            took["post_check"] = early + late
        if "decode" in took:
            took["decode"] -= late
        return {name: round(max(0.0, took[name]) * 1000, 2) for name in STATIONS if name in took}


def in_order(milliseconds: dict[str, float] | None) -> dict[str, float] | None:
    """As PostgreSQL gives them back, in the order of a generation's life again."""
    if milliseconds is None:
        return None
    return {name: milliseconds[name] for name in STATIONS if name in milliseconds}


def server_timing(milliseconds: dict[str, float]) -> str:
    """As the header `Server-Timing` has it. Source: W3C, "Server Timing", section 2."""
    return ", ".join(f"{name};dur={took:g}" for name, took in milliseconds.items())
