"""What a model thinks before it answers: how families write it, and told apart while it streams.

Sources: the chat templates of the models named; OpenAI's description of the Harmony format.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


@dataclass(frozen=True)
class ReasoningFormat:
    """Text around a thought: `begin`, white space, the thought, `end`, `links`, the answer.

    Attributes:
        links: what stands between a thought and an answer.
    """

    name: str
    begin: str
    end: str
    links: tuple[str, ...] = ()

    @property
    def markup(self) -> tuple[str, ...]:
        """Its texts, which may be special tokens."""
        return (self.begin, self.end, *self.links)

    @property
    def opening(self) -> str:
        return self.begin if self.links else f"{self.begin}\n"

    @property
    def closing(self) -> str:
        return self._closing(self.links)

    def _closing(self, links: tuple[str, ...]) -> str:
        return f"{self.end}{''.join(links)}" if self.links else f"\n{self.end}\n\n"

    def text_of(
        self, thought: str, *, opened: bool, ended: bool, calls: bool = False
    ) -> list[tuple[str, bool]]:
        """A thought as the model wrote it, in parts: text, and whether it is the format's own.

        Args:
            opened: the prompt ends with its beginning.
            ended: an answer follows.
            calls: it is a call, which has marks of its own in place of the last link.
        """
        if not thought:
            return []
        parts = [] if opened else [(self.opening, True)]
        closing = self._closing(self.links[:-1] if calls else self.links)
        return [*parts, (thought, False), *([(closing, True)] if ended else [])]


THINK = ReasoningFormat("think", begin="<think>", end="</think>")
"""Qwen 3, DeepSeek R1 and V3.1, SmolLM3, Granite's successors."""

HARMONY = ReasoningFormat(
    "harmony",
    begin="<|channel|>analysis<|message|>",
    end="<|end|>",
    links=("<|start|>assistant", "<|channel|>final<|message|>"),
)
"""gpt-oss: thoughts are a channel of their own."""


def reasoning_format_of(source: str) -> ReasoningFormat | None:
    """The format that a chat template teaches; None where its model does not think."""
    if "<|channel|>" in source and "analysis" in source:
        return HARMONY
    return THINK if THINK.begin in source or THINK.end in source else None


@dataclass(frozen=True)
class Thought:
    """More of what the model thinks."""

    text: str


class _State(Enum):
    BEFORE = auto()
    INSIDE = auto()
    AFTER = auto()
    ANSWER = auto()


class ReasoningParser:
    """Tells the thought of one choice from its answer. White space around a thought is none.

    Attributes:
        is_inside: a thought has begun and not ended.
    """

    def __init__(
        self,
        form: ReasoningFormat,
        *,
        opened: bool = False,
        continues: bool = False,
        over: bool = False,
    ) -> None:
        """
        Args:
            opened: the prompt ends with the beginning of a thought; continues: with a part of
                one; over: with a part of an answer.
        """
        self._form = form
        self._held = ""
        self._links = list(form.links)
        self._is_first = opened
        inside = opened or continues
        self._state = _State.ANSWER if over else _State.INSIDE if inside else _State.BEFORE

    @property
    def is_inside(self) -> bool:
        return self._state is _State.INSIDE

    def feed(self, text: str) -> list[Thought | str]:
        """Thoughts, and text of the answer, in their order."""
        if self._state is _State.ANSWER:
            return [text] if text else []
        self._held += text
        parts: list[Thought | str] = []
        while True:
            before = self._state
            parts += self._step()
            if self._state is before:
                return parts

    def finish(self) -> list[Thought | str]:
        """No more text comes: what was held back is what it looks like."""
        held, self._held = self._held, ""
        if self._state is _State.INSIDE:
            return [Thought(held.rstrip())] if held.strip() else []
        return [held] if held else []

    def _step(self) -> list[Thought | str]:
        if self._state is _State.BEFORE:
            return self._before()
        if self._state is _State.INSIDE:
            return self._inside()
        if self._state is _State.AFTER:
            return self._after()
        held, self._held = self._held, ""
        return [held] if held else []

    def _before(self) -> list[Thought | str]:
        seen = self._held.lstrip()
        if seen.startswith(self._form.begin):
            self._held, self._is_first = seen.removeprefix(self._form.begin), True
            self._state = _State.INSIDE
        elif not self._form.begin.startswith(seen):
            self._state = _State.AFTER
        return []

    def _inside(self) -> list[Thought | str]:
        if self._is_first:
            self._held = self._held.lstrip()
            self._is_first = not self._held
        thought, end, rest = self._held.partition(self._form.end)
        if end:
            self._held, self._state = rest, _State.AFTER
        else:
            kept = _beginning_held(thought, self._form.end)
            thought = thought[: len(thought) - kept].rstrip()
            self._held = self._held[len(thought) :]
        thought = thought.rstrip()
        return [Thought(thought)] if thought else []

    def _after(self) -> list[Thought | str]:
        self._held = self._held.lstrip()
        while self._links and self._held:
            if self._held.startswith(self._links[0]):
                self._held = self._held.removeprefix(self._links.pop(0)).lstrip()
            elif self._links[0].startswith(self._held):
                return []
            else:
                self._links.pop(0)
        if self._held:
            self._state = _State.ANSWER
        return []


def _beginning_held(text: str, wanted: str) -> int:
    """How many last characters of `text` are the beginning of `wanted`."""
    longest = min(len(text), len(wanted) - 1)
    return next((n for n in range(longest, 0, -1) if wanted.startswith(text[-n:])), 0)
