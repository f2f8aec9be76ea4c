"""Puts events into an active generation's log. The only place that does."""

import time

import msgspec

from backend.generation.request import DONE
from backend.generation.run.active import ActiveGeneration
from backend.generation.run.output import ChoiceOutput, Delivery
from backend.generation.run.replay import EventMeta
from backend.generation.stream.writer import BufferWriter
from backend.generation.tools import AnswerDelta, ArgumentsDelta, CallBegin, ThoughtDelta
from backend.generation.usage import Usage
from backend.platform.errors import ParleyError

_NO_META = EventMeta().encoded()


class EventAppender:
    """Writes one generation's events.

    Attributes:
        first_text_at, last_text_at: monotonic; None before there is any.
        thought_until: monotonic; when the first choice had last thought, None where it has not.
    """

    def __init__(self, active: ActiveGeneration, writer: BufferWriter) -> None:
        self._active = active
        self._writer = writer
        self.first_text_at: float | None = None
        self.last_text_at: float | None = None
        self.thought_until: float | None = None

    def begin(self, choice: ChoiceOutput) -> None:
        """The choice's first event, once; the first of all carries `parley`."""
        if choice.begun:
            return
        choice.begun = True
        active = self._active
        parley = None
        if active.log.last == 0 and active.request.turn is not None:
            ids = msgspec.to_builtins(active.request.turn)
            parley = {**ids, "generation_id": str(active.id)}
        echo = active.request.echo_of(choice.index)
        self._append(active.encoder.begin(choice.index, parley, echo), choice)
        active.note_began()

    def text(self, choice: ChoiceOutput, delivery: Delivery) -> None:
        self.begin(choice)
        self.last_text_at = time.monotonic()
        self.first_text_at = self.first_text_at or self.last_text_at
        logprobs = delivery.logprobs
        for delta in delivery.deltas:
            thinks = isinstance(delta, ThoughtDelta)
            if thinks and choice.index == 0:
                self.thought_until = self.last_text_at
            tokens = choice.reasoning_tokens if thinks else choice.tokens
            self._append(self._encoded(choice.index, delta, logprobs), choice, tokens)
            logprobs = None

    def _encoded(self, index: int, delta: AnswerDelta, logprobs: bytes | None) -> bytes:
        encoder = self._active.encoder
        if isinstance(delta, CallBegin):
            return encoder.call(index, delta)
        if isinstance(delta, ArgumentsDelta):
            return encoder.arguments(index, delta)
        if isinstance(delta, ThoughtDelta):
            return encoder.thought(index, delta.text)
        return encoder.text(index, delta.text, logprobs)

    def finish(self, choice: ChoiceOutput) -> None:
        """The choice's last event, once."""
        assert choice.finish_reason is not None
        if choice.announced:
            return
        choice.announced = True
        self.begin(choice)
        self._append(self._active.encoder.finish(choice.index, choice.finish_reason), choice)

    def end(self, usage: Usage, error: ParleyError | None) -> None:
        """The last events: an error, the usage if it was asked for, `[DONE]`."""
        encoder = self._active.encoder
        if error is not None:
            self._append(encoder.error(error), None)
        elif self._active.request.stream_usage:
            self._append(encoder.usage(usage, self._active.predicted), None)
        self._append(DONE, None)

    def _append(self, data: bytes, choice: ChoiceOutput | None, tokens: int | None = None) -> None:
        active = self._active
        meta = _NO_META
        if choice is not None:
            counted = choice.tokens if tokens is None else tokens
            meta = EventMeta(choice.index, counted, active.prompt_of(choice)).encoded()
        active.log.append(data, meta)
        self._writer.mark(active.log)
