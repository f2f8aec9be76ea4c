"""Who asks and when: a recorded trace, or people by the hundred thousand through a day.

Both fill `Seats`; a fleet tells them how each request ended. People read an answer, think, and ask
on, so that a slow fleet is asked less: load is closed, not a stream that nothing slows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from inference.bench.lengths import MAX_LENGTH, MEAN_OUTPUT, MEAN_PROMPT
from infra.simulator.replica_flow import Ints
from infra.simulator.seats import Seats
from infra.simulator.step_times import Floats
from infra.simulator.trace import PLANS, Conversation

DAY_S = 86_400.0
_SPREAD = 1.0
"""Of the log-normal lengths, as in `inference.bench.lengths`."""
_MIN_PAUSE_S = 1.0
_LOOK_S = 1.0
_MAX_RETRIES = 5


class Source(Protocol):
    """What a fleet is asked by.

    Attributes:
        seats: `asks_at` of each is when it asks next; infinite while it waits for an answer.
    """

    seats: Seats

    def due(self, begin: float, end: float) -> Ints:
        """Those who ask in [begin, end), by time: their request is in `seats`."""
        ...

    def answered(self, who: Ints, at: Floats) -> None: ...

    def refused(self, who: Ints, at: float, retry_after_s: Floats) -> None: ...

    @property
    def is_over(self) -> bool:
        """Whether nobody will ask any more."""
        ...


class TraceSource:
    """The conversations of a trace, one a seat. One that is refused ends."""

    def __init__(self, conversations: Sequence[Conversation]) -> None:
        self._conversations = conversations
        self.seats = seats = Seats(len(conversations))
        self.turn = np.zeros(len(conversations), np.int64)
        priorities = list(PLANS.values())
        for number, one in enumerate(conversations):
            seats.plan[number] = priorities.index(PLANS[one.plan])
            seats.organization[number] = one.organization
            seats.system[number] = one.system
            seats.asks_at[number] = one.begins_s
            self._prepare(number)

    def _prepare(self, number: int) -> None:
        one, turn, seats = self._conversations[number], self.turn[number], self.seats
        earlier = sum(past.question + past.answer for past in one.turns[:turn])
        seats.prompt[number] = one.system + earlier + one.turns[turn].question
        seats.answer[number] = one.turns[turn].answer

    def due(self, begin: float, end: float) -> Ints:
        who = np.flatnonzero(self.seats.asks_at < end)
        who = who[np.argsort(self.seats.asks_at[who], kind="stable")]
        self.seats.arrived[who] = np.maximum(self.seats.asks_at[who], begin)
        self.seats.asks_at[who] = np.inf
        return who

    def answered(self, who: Ints, at: Floats) -> None:
        for number, done in zip(who.tolist(), at.tolist(), strict=True):
            self.turn[number] += 1
            turns = self._conversations[number].turns
            if self.turn[number] < len(turns):
                self.seats.asks_at[number] = done + turns[self.turn[number]].pause_s
                self._prepare(number)

    def refused(self, who: Ints, at: float, retry_after_s: Floats) -> None:
        pass

    @property
    def is_over(self) -> bool:
        return bool(np.isinf(self.seats.asks_at).all())


@dataclass(frozen=True, slots=True)
class Region:
    """`share` of the people; their busiest hour, in hours of the simulated day."""

    name: str
    share: float
    busiest_hour: float


REGIONS = (Region("america", 0.4, 20.0), Region("europe", 0.35, 14.0), Region("asia", 0.25, 7.0))


@dataclass(frozen=True, slots=True)
class Crowd:
    """People of a day.

    Attributes:
        at_once: the most that are there at one moment.
        night: the part of a region's people that are there twelve hours from its busiest.
        pause_s: from an answer's end to the next question, on average (exponential).
        mean_turns: of a conversation (geometric).
        question, answer: mean tokens; ShareGPT's, and answers `answer_scale` times as long.
        system: tokens of the prompt that the product sets before every conversation.
        max_context: a longer conversation is begun anew.
        first_hour: of the day, at which the run begins.
    """

    at_once: int
    night: float = 0.25
    pause_s: float = 40.0
    mean_turns: float = 5.0
    question: float = MEAN_PROMPT
    answer: float = MEAN_OUTPUT
    answer_scale: float = 2.5
    system: int = 400
    max_context: int = 16_000
    organizations: int = 500
    plans: tuple[float, ...] = (0.1, 0.3, 0.6)
    """Shares of `PLANS`."""
    regions: tuple[Region, ...] = REGIONS
    first_hour: float = 0.0


class People:
    """They come and go with their region's hours, and all at once in a herd."""

    def __init__(self, crowd: Crowd, chance: np.random.Generator) -> None:
        self._crowd = crowd
        self._chance = chance
        hours = np.arange(0, 24, 0.1)
        total = sum(one.share * _level(hours, one, crowd.night) for one in crowd.regions)
        count = round(crowd.at_once / float(np.max(total)))
        self.seats = seats = Seats(count)
        shares = np.array([one.share for one in crowd.regions])
        self.region = chance.choice(len(shares), count, p=shares / shares.sum())
        seats.plan[:] = chance.choice(len(crowd.plans), count, p=np.array(crowd.plans))
        seats.organization[:] = chance.integers(1, crowd.organizations + 1, count)
        seats.system[:] = crowd.system
        self._there_below = chance.random(count)
        self._turns_left = np.zeros(count, np.int64)
        self._is_retry = np.zeros(count, bool)
        self._retries = np.zeros(count, np.int64)
        self._next_conversation = count
        seats.asks_at[:] = chance.random(count) * crowd.pause_s
        self._looked_until = -1.0
        self._soon = np.zeros(0, np.int64)
        self.gave_up = 0

    @property
    def is_over(self) -> bool:
        return False

    def herd(self, at: float, over_s: float) -> None:
        """Everybody who waits for no answer asks within `over_s` seconds, wherever they are."""
        idle = np.flatnonzero(np.isfinite(self.seats.asks_at))
        self._there_below[idle] = 0.0
        self.seats.asks_at[idle] = at + self._chance.random(len(idle)) * over_s
        self._looked_until = -1.0

    def disperse(self) -> None:
        """The herd is over: people are there by their hours again."""
        self._there_below = self._chance.random(self.seats.count)

    def due(self, begin: float, end: float) -> Ints:
        asks_at = self.seats.asks_at
        if end > self._looked_until:
            self._looked_until = begin + max(_LOOK_S, end - begin)
            self._soon = np.flatnonzero(asks_at < self._looked_until)
        who = self._soon[asks_at[self._soon] < end]
        who = self._those_who_are_there(who, begin)
        who = who[np.argsort(asks_at[who], kind="stable")]
        self.seats.arrived[who] = np.maximum(asks_at[who], begin)
        asks_at[who] = np.inf
        self._ask(who)
        return who

    def _those_who_are_there(self, who: Ints, now: float) -> Ints:
        hour = self._crowd.first_hour + now / 3600
        level = np.array([float(_level(hour, r, self._crowd.night)) for r in self._crowd.regions])
        there = self._there_below[who] < level[self.region[who]]
        away = who[~there]
        self.seats.asks_at[away] = now + 120 + self._chance.random(len(away)) * 240
        self._turns_left[away] = 0
        return who[there]

    def _ask(self, who: Ints) -> None:
        """A question each: in a new conversation, the next one of an old, or the same again."""
        seats, crowd = self.seats, self._crowd
        who = who[~self._is_retry[who]]
        length = seats.prompt[who] + seats.answer[who]
        new = (self._turns_left[who] <= 0) | (length > crowd.max_context)
        begun = who[new]
        seats.conversation[begun] = self._next_conversation + np.arange(len(begun))
        self._next_conversation += len(begun)
        self._turns_left[begun] = self._chance.geometric(1 / crowd.mean_turns, len(begun))
        seats.begin_anew(begun)
        before = np.where(new, seats.system[who], length)
        seats.prompt[who] = before + self._lengths(crowd.question, len(who), 1.0)
        seats.answer[who] = self._lengths(
            crowd.answer * crowd.answer_scale, len(who), crowd.answer_scale
        )
        self._turns_left[who] -= 1

    def _lengths(self, mean: float, count: int, scale: float) -> Floats:
        drawn = self._chance.lognormal(log(mean) - _SPREAD**2 / 2, _SPREAD, count)
        return np.clip(np.round(drawn), 2, MAX_LENGTH * scale)

    def answered(self, who: Ints, at: Floats) -> None:
        self._is_retry[who] = False
        self._retries[who] = 0
        pauses = self._chance.exponential(self._crowd.pause_s, len(who))
        self.seats.asks_at[who] = at + np.maximum(_MIN_PAUSE_S + _LOOK_S, pauses)

    def refused(self, who: Ints, at: float, retry_after_s: Floats) -> None:
        """They come back when they are told to; after some times they give up and come later."""
        self._retries[who] += 1
        tired = self._retries[who] > _MAX_RETRIES
        self.gave_up += int(tired.sum())
        self._retries[who[tired]] = 0
        self._is_retry[who] = True
        later = self._chance.exponential(10 * self._crowd.pause_s, len(who))
        self.seats.asks_at[who] = at + np.where(tired, later, retry_after_s)


def _level(hour: float | NDArray[np.float64], region: Region, night: float) -> Floats:
    """The part of a region's people that are there."""
    wave = 0.5 + 0.5 * np.cos((np.asarray(hour) - region.busiest_hour) / 24 * 2 * np.pi)
    return np.asarray(night + (1 - night) * wave, float)
