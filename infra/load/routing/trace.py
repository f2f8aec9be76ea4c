"""The conversations that all policies are tried on, the same for each.

Lengths are drawn as in ShareGPT's conversations, scaled to what one processor computes: log-normal,
questions of median 25 tokens and answers of up to `ANSWER_TOKENS`, three to five turns; half of the
conversations share one long system prompt.
"""

import random
from dataclasses import dataclass

ANSWER_TOKENS = 16
_WORDS = ["river", "stone", "light", "house", "garden", "letter", "music", "winter", "market"]
_SYSTEM = "You answer with care, in few words, and say so when you do not know. " * 24


@dataclass(frozen=True, slots=True)
class Conversation:
    """`questions` are asked one after the other; `pauses_s` before each."""

    id: str
    system: str
    questions: tuple[str, ...]
    pauses_s: tuple[float, ...]


def trace(count: int, seed: int) -> list[Conversation]:
    chance = random.Random(seed)  # noqa: S311
    return [
        Conversation(
            id=f"conversation-{number}",
            system=_SYSTEM if number % 2 else "",
            questions=tuple(
                f"({number}.{turn}) " + " ".join(chance.choices(_WORDS, k=_words(chance)))
                for turn in range(chance.randint(3, 5))
            ),
            pauses_s=tuple(chance.expovariate(5.0) for _ in range(5)),
        )
        for number in range(count)
    ]


def _words(chance: random.Random) -> int:
    return min(300, max(5, int(chance.lognormvariate(3.6, 0.9))))
