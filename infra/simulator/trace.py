"""Conversations that are put to engines, real or simulated: the same for the same seed.

Lengths have the means of ShareGPT (`inference.bench.lengths`) and a log-normal shape. A token is a
number, and four hexadecimal digits of text: what a gateway hashes is as long as what it has.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from backend.accounts.principal import PlanLimits, Principal
from backend.conversations.types import ChatMessage
from backend.generation.request import GenerationRequest
from inference.bench.lengths import sharegpt_lengths

PLANS = {"premium": 0, "standard": 5, "free": 20}
"""`queue_priority` by plan."""
_VOCABULARY = (1_000, 40_000)


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of so many tokens, after a pause, and the tokens of its answer."""

    pause_s: float
    question: int
    answer: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """`system`: tokens of a prompt that all conversations share; 0: it has none."""

    number: int
    begins_s: float
    organization: int
    plan: str
    system: int
    turns: tuple[Turn, ...]

    def prompt(self, turn: int) -> list[int]:
        """The tokens up to the question of `turn`."""
        tokens = _tokens(random.Random(0), self.system)  # noqa: S311
        chance = random.Random(f"{self.number}")  # noqa: S311
        for earlier in self.turns[:turn]:
            tokens += _tokens(chance, earlier.question) + _tokens(chance, earlier.answer)
        return tokens + _tokens(chance, self.turns[turn].question)

    def answer(self, turn: int) -> list[int]:
        """What the simulated model answers: the next turn's prompt holds it."""
        chance = random.Random(f"{self.number}")  # noqa: S311
        for earlier in self.turns[:turn]:
            _tokens(chance, earlier.question + earlier.answer)
        _tokens(chance, self.turns[turn].question)
        return _tokens(chance, self.turns[turn].answer)

    def request(self, turn: int) -> GenerationRequest:
        """As a gateway sees it."""
        prompt = self.prompt(turn)
        messages = [ChatMessage("system", _text(prompt[: self.system]))] if self.system else []
        messages.append(ChatMessage("user", _text(prompt[self.system :])))
        plan = PlanLimits(self.plan, PLANS[self.plan], 1_000_000, 1_000_000_000, 10_000)
        principal = Principal(
            organization_id=UUID(int=self.organization),
            project_id=UUID(int=self.organization),
            user_id=UUID(int=self.number + 1),
            key_id=None,
            role="member",
            plan=plan,
        )
        return GenerationRequest(
            principal=principal,
            request_id=f"{self.number}-{turn}",
            endpoint="chat",
            model="simulated",
            messages=messages,
            conversation_id=UUID(int=self.number + 1),
        )


@dataclass(frozen=True, slots=True)
class Traffic:
    """What a trace is like.

    Attributes:
        per_s: conversations that begin, a second (Poisson).
        mean_turns: of a conversation (geometric).
        pause_s: the mean time from an answer to the next question (exponential).
        scale: of ShareGPT's lengths.
        system: tokens of the system prompt that every second conversation shares.
    """

    conversations: int
    per_s: float
    mean_turns: float = 3.0
    pause_s: float = 5.0
    scale: float = 1.0
    system: int = 0
    organizations: int = 8


def trace(traffic: Traffic, seed: int) -> list[Conversation]:
    """Conversations by the time at which they begin."""
    chance = random.Random(seed)  # noqa: S311
    at, found = 0.0, []
    for number in range(traffic.conversations):
        at += chance.expovariate(traffic.per_s)
        turns = 1
        while chance.random() > 1 / traffic.mean_turns:
            turns += 1
        lengths = sharegpt_lengths(turns, chance, traffic.scale)
        found.append(
            Conversation(
                number=number,
                begins_s=at,
                organization=1 + chance.randrange(traffic.organizations),
                plan=chance.choice(list(PLANS)),
                system=traffic.system if number % 2 else 0,
                turns=tuple(
                    Turn(chance.expovariate(1 / traffic.pause_s) if n else 0.0, *pair)
                    for n, pair in enumerate(lengths)
                ),
            )
        )
    return found


def requests_of(conversations: Sequence[Conversation]) -> int:
    return sum(len(one.turns) for one in conversations)


def _tokens(chance: random.Random, count: int) -> list[int]:
    return [chance.randrange(*_VOCABULARY) for _ in range(count)]


def _text(tokens: Sequence[int]) -> str:
    return "".join(f"{token:04x}" for token in tokens)
