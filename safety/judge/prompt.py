"""The question that an answer replies to: one that was nearly refused makes its answer suspect.

Neither check is sure alone. One ordinary question in twenty looks as harmful as a doubtful one and
passes, one ordinary answer in thirty as harmful as a suspect one; hardly any pair is both.
"""

from collections.abc import Sequence
from functools import cached_property

from safety.score.detect import examine
from safety.taxonomy import Category
from safety.types import SafetyMessage

DOUBTFUL_FROM = 0.5
"""Harm of a question, on the scale of prompts' scores."""

READ_CHARACTERS = 2_000
"""Of a long question, half of them from its beginning and half from its end."""


class Question:
    """The newest user message of a conversation. Examined only when somebody wants to know."""

    def __init__(self, context: Sequence[SafetyMessage]) -> None:
        text = next((m.text for m in reversed(context) if m.role == "user"), "")
        half = READ_CHARACTERS // 2
        self._text = text if len(text) <= 2 * half else f"{text[:half]}\n{text[-half:]}"

    @cached_property
    def is_doubtful(self) -> bool:
        """Whether it asks for something near to what is refused. Never raises; costs some ms."""
        scores = examine(self._text, "prompt").scores if self._text else {}
        harms = (s for category, s in scores.items() if category is not Category.PROMPT_INJECTION)
        return max(harms, default=0.0) >= DOUBTFUL_FROM
