"""The prompt that an answer replies to: one that was nearly refused makes its answer suspect.

Neither check is sure alone. One ordinary prompt in twenty scores as an uncertain one and passes,
one ordinary answer in thirty scores as high as is flagged beside it; hardly any pair is both.
"""

from collections.abc import Sequence
from functools import cached_property

from safety.score.detect import examine
from safety.taxonomy import Category
from safety.types import SafetyMessage, newest_of

UNCERTAIN_FROM = 0.5
"""Harm of a prompt, on the scale of prompts' scores."""

READ_CHARACTERS = 2_000
"""Of a long prompt, half of them from its beginning and half from its end."""


class Prompt:
    """The newest user message of a conversation. Examined only when its answer needs that.

    Args:
        owner: whose conversation it is, see `examine`.
    """

    def __init__(self, context: Sequence[SafetyMessage], *, owner: str | None = None) -> None:
        self._owner = owner
        text = newest_of(context)
        half = READ_CHARACTERS // 2
        self._text = text if len(text) <= 2 * half else f"{text[:half]}\n{text[-half:]}"

    @cached_property
    def is_uncertain(self) -> bool:
        """Whether it scores near to what is refused. Never raises; costs some milliseconds."""
        scores = examine(self._text, "prompt", owner=self._owner).scores if self._text else {}
        harms = (s for category, s in scores.items() if category is not Category.PROMPT_INJECTION)
        return max(harms, default=0.0) >= UNCERTAIN_FROM
