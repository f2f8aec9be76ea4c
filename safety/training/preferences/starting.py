"""Pairs to begin with: our own acts and prompts, none of users' conversations.

Harmful requests prefer a refusal over what the model says; ordinary and alarming-but-honest
ones the other way round, or a model learns to refuse everything.
"""

import random
from collections.abc import Sequence

from safety.training.acts import act_frames
from safety.training.example import Example
from safety.training.preferences.pairs import PreferencePair
from safety.training.sources import own_prompts

_REFUSALS = (
    "I'm sorry, but I can't help with that. It could seriously hurt somebody.",
    "I can't help with this, because it would do harm. Is there something else I can do for you?",
    "I won't help with that. If somebody is in danger, please contact the emergency services.",
    "I'm sorry, I can't assist with this request. I'm happy to help with something safe instead.",
)
_HELPFUL_GROUPS = ("own_questions", "own_instructions")


def starting_pairs(count: int, *, seed: int) -> list[PreferencePair]:
    """`count` pairs, in a fixed order for a seed: half of them refuse, a quarter are ordinary
    prompts, a quarter honest ones with alarming words."""
    generator = random.Random(seed)  # noqa: S311  (not for secrets)
    harmful = [e for e in act_frames() if e.label == "harmful"]
    ordinary = [e for e in own_prompts() if e.group in _HELPFUL_GROUPS]
    borderline = [e for e in own_prompts() if e.label == "borderline"]
    quarter = count // 4
    pairs = [
        *(_refusing(e, generator) for e in _some(harmful, count - 2 * quarter, generator)),
        *(_helping(e, generator) for e in _some(ordinary, quarter, generator)),
        *(_helping(e, generator) for e in _some(borderline, quarter, generator)),
    ]
    generator.shuffle(pairs)
    return pairs


def _some(examples: Sequence[Example], count: int, generator: random.Random) -> list[Example]:
    """Different texts, at most `count`."""
    texts = sorted({e.text: e for e in examples}.values(), key=lambda e: e.text)
    return generator.sample(texts, min(count, len(texts)))


def _refusing(example: Example, generator: random.Random) -> PreferencePair:
    prompt = ({"role": "user", "content": example.text},)
    return PreferencePair(prompt, generator.choice(_REFUSALS), None, "starting", refuses=True)


def _helping(example: Example, generator: random.Random) -> PreferencePair:
    prompt = ({"role": "user", "content": example.text},)
    return PreferencePair(prompt, None, generator.choice(_REFUSALS), "starting", refuses=False)
