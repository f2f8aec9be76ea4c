"""Puts events into a live generation's log. The only place that does."""

import time

import msgspec

from backend.generation.request import DONE, Usage
from backend.generation.run.active import LiveGeneration
from backend.generation.run.output import ChoiceOutput, Delivery
from backend.generation.stream.replay import EventMeta
from backend.generation.stream.writer import BufferWriter
from backend.platform.errors import ParleyError

_ENCODER = msgspec.msgpack.Encoder()
_NO_META = _ENCODER.encode(EventMeta())


class Emitter:
    """Writes one generation's events.

    Attributes:
        first_text_at, last_text_at: monotonic; None before there is any.
    """

    def __init__(self, live: LiveGeneration, writer: BufferWriter) -> None:
        self._live = live
        self._writer = writer
        self.first_text_at: float | None = None
        self.last_text_at: float | None = None

    def opening(self, choice: ChoiceOutput) -> None:
        """The choice's first event, once; the first of all carries `parley`."""
        if choice.opened:
            return
        choice.opened = True
        live = self._live
        parley = None
        if live.log.last == 0 and live.request.metadata is not None:
            parley = {**live.request.metadata, "generation_id": str(live.opened.id)}
        self._append(live.encoder.opening(choice.index, parley), choice)
        live.note_began()

    def text(self, choice: ChoiceOutput, delivery: Delivery) -> None:
        self.opening(choice)
        self.last_text_at = time.monotonic()
        self.first_text_at = self.first_text_at or self.last_text_at
        data = self._live.encoder.text(choice.index, delivery.text, delivery.logprobs)
        self._append(data, choice)

    def finish(self, choice: ChoiceOutput) -> None:
        """The choice's last event, once."""
        assert choice.finish_reason is not None
        if choice.announced:
            return
        choice.announced = True
        self.opening(choice)
        self._append(self._live.encoder.finish(choice.index, choice.finish_reason), choice)

    def end(self, usage: Usage, error: ParleyError | None) -> None:
        """The last events: an error, the usage if it was asked for, `[DONE]`."""
        encoder = self._live.encoder
        if error is not None:
            self._append(encoder.error(error), None)
        elif self._live.request.stream_usage:
            self._append(encoder.usage(usage), None)
        self._append(DONE, None)

    def _append(self, data: bytes, choice: ChoiceOutput | None) -> None:
        live = self._live
        meta = _NO_META
        if choice is not None:
            meta = _ENCODER.encode(
                EventMeta(choice.index, choice.tokens, live.input_tokens, live.cached_input_tokens)
            )
        live.log.append(data, meta)
        self._writer.mark(live.log)
