"""Thoughts of a chat: whether the model is to think, and its thoughts as deltas of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from inference.server.schemas import ChatRequest
from inference.server.tools import DeltaWriter, ToolUse
from inference.text.chat_template import ChatTemplate
from inference.text.reasoning import ReasoningFormat, ReasoningParser, Thought
from inference.text.tokenizer import TextTokenizer


@dataclass(frozen=True)
class Thinking:
    """What one body asks of the model's thoughts.

    Attributes:
        form: how the model writes them; None where it has none.
        variables: of the chat template, with what the client gives it.
        is_on: a thought may come; not where a grammar holds the answer from its first token.
    """

    form: ReasoningFormat | None
    variables: dict[str, Any] | None
    is_on: bool

    @classmethod
    def of(cls, body: ChatRequest, template: ChatTemplate, tools: ToolUse | None) -> Thinking:
        """Raises InvalidRequestError: the template does not know such an effort."""
        variables = {
            **template.effort_variables(body.reasoning_effort),
            **(body.chat_template_kwargs or {}),
        }
        wanted = body.response_format
        held = (wanted is not None and wanted.type != "text") or (
            tools is not None and not tools.rules.text
        )
        if held:
            variables |= template.variables_without_thought()
        return cls(template.reasoning_format, variables or None, not held)

    def shown_token_ids(self, tokenizer: TextTokenizer) -> frozenset[int]:
        """The special tokens that mark thoughts: part of the text that is parsed."""
        if self.form is None:
            return frozenset()
        marked = [text for text in tokenizer.special_tokens if self._marks(text)]
        ids = (tokenizer.special_id(text) for text in marked)
        return frozenset(one for one in ids if one is not None)

    def writer(self, body: ChatRequest, inner: DeltaWriter, *, opened: bool) -> DeltaWriter:
        """
        Args:
            inner: of the answer.
            opened: the prompt has begun a thought.
        """
        if self.form is None:
            return inner
        last = body.messages[-1]
        said = body.continue_final_message and bool(last.text or last.calls)
        thought = body.continue_final_message and bool(last.reasoning_content)
        parser = ReasoningParser(
            self.form,
            opened=opened and not thought,
            continues=thought,
            over=said or not self.is_on,
        )
        return ThoughtDeltas(parser, inner)

    def _marks(self, token: str) -> bool:
        return self.form is not None and any(token in text for text in self.form.markup)


class ThoughtDeltas:
    """Thoughts as `reasoning_content`, the rest as another writer has it."""

    def __init__(self, parser: ReasoningParser, inner: DeltaWriter) -> None:
        self.begun = inner.begun
        self._parser = parser
        self._inner = inner

    @property
    def is_thinking(self) -> bool:
        return self._parser.is_inside

    def feed(self, text: str) -> list[dict[str, Any]]:
        return self._deltas(self._parser.feed(text))

    def finish(self) -> list[dict[str, Any]]:
        return self._deltas(self._parser.finish()) + self._inner.finish()

    @property
    def stop_reason(self) -> str:
        return self._inner.stop_reason

    def _deltas(self, parts: list[Thought | str]) -> list[dict[str, Any]]:
        deltas: list[dict[str, Any]] = []
        for part in parts:
            if isinstance(part, Thought):
                deltas.append({"reasoning_content": part.text})
            else:
                deltas += self._inner.feed(part)
        return deltas
