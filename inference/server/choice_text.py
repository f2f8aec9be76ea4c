"""From a step's tokens to the text of one choice: stop strings, loops, log probabilities."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace
from typing import Any

from inference.core import FinishReason, TokenLogprobs
from inference.protocol import SequenceOutput
from inference.server.prepare import PreparedPrompt
from inference.server.state import ServerState
from inference.text.detokenizer import StreamingDetokenizer
from inference.text.loops import Loop, LoopDetector
from inference.text.stop_strings import StopStrings


@dataclass(frozen=True)
class TokenInfo:
    """One token whose text was released, with its log probabilities."""

    token_id: int
    begin: int
    """Where its text begins and ends in the choice's text, in characters."""
    end: int
    logprobs: TokenLogprobs


@dataclass(frozen=True)
class Delta:
    """What one step gave one choice. `generated` counts all its tokens so far."""

    index: int
    text: str
    generated: int
    cached_tokens: int
    tokens: tuple[TokenInfo, ...] = ()
    finish_reason: FinishReason | None = None
    loop: Loop | None = None
    """Of reason `LOOP`: what the answer repeats."""
    stop_string: str | None = None
    """Of reason `STOP`: the stop string that was met, where one was."""
    predicted: tuple[int, int] = (0, 0)
    """Tokens of the prediction so far that were right and wrong."""
    readouts: tuple[float, ...] = ()
    """Those of the tokens computed since the last delta, one after another."""

    def finish_fields(self) -> dict[str, Any]:
        """`finish_reason` as OpenAI has it. Of a loop it is `length`, which says that the answer is
        not complete, and `finish_details` says why; of a stop string it says which. Other answers
        have no such field."""
        if self.stop_string is not None:
            met = {"type": FinishReason.STOP, "stop": self.stop_string}
            return {"finish_reason": self.finish_reason, "finish_details": met}
        if self.loop is None:
            return {"finish_reason": self.finish_reason}
        details = {
            "type": FinishReason.LOOP,
            "cycle_tokens": self.loop.period,
            "repeats": self.loop.repeats,
        }
        return {"finish_reason": FinishReason.LENGTH, "finish_details": details}

    def readout_fields(self, num_readouts: int) -> dict[str, Any]:
        """`readouts`, a list of numbers for each token, where they were asked for."""
        if not self.readouts:
            return {}
        tokens = range(0, len(self.readouts), num_readouts)
        return {"readouts": [self.readouts[at : at + num_readouts] for at in tokens]}


@dataclass
class ChoiceSoFar:
    """The deltas of a choice, put together."""

    text: str = ""
    tokens: list[TokenInfo] = field(default_factory=list)
    readouts: list[float] = field(default_factory=list)
    last: Delta | None = None

    def take(self, delta: Delta) -> None:
        self.text += delta.text
        self.tokens.extend(delta.tokens)
        self.readouts.extend(delta.readouts)
        self.last = delta

    def joined(self, index: int, *, text: str = "", tokens: bool = True) -> Delta:
        """All deltas as one, which ends as the last did."""
        last = self.last or Delta(index, "", 0, 0)
        shown = tuple(self.tokens) if tokens else ()
        readouts = tuple(self.readouts)
        return replace(last, index=index, text=text, tokens=shown, readouts=readouts)


@dataclass
class ChoiceText:
    """Text of one choice so far: detokenized, checked for stop strings and loops, counted."""

    state: ServerState
    index: int
    prompt: PreparedPrompt
    generated: int = 0
    _decoded: int = 0
    _released: int = 0
    _pending: list[TokenInfo] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._detokenizer = StreamingDetokenizer(
            self.state.tokenizer,
            skip_special_tokens=self.prompt.skip_special_tokens,
            shown=self.prompt.shown_tokens,
        )
        self._stops = StopStrings(self.prompt.stops)
        self._text: list[str] = []
        self._repeats = self.prompt.repeat_watch()
        self._loops: LoopDetector | None = None
        if self.prompt.asked is not None:
            self._loops = LoopDetector(self.prompt.asked.text, self.state.tokenizer.decode)
            self._loops.prime(self.prompt.asked.partial)

    def take(self, output: SequenceOutput) -> Delta:
        """Turn a step's tokens into a delta.

        Tokens after a stop string or the end of a loop are not counted. Log probabilities wait
        until all their token's text is released, so they never show a part of a stop string.
        """
        released, reason = "", output.finish_reason
        for position, token_id in enumerate(output.new_token_ids):
            self.generated += 1
            decoded = self._detokenizer.feed(token_id)
            begin, self._decoded = self._decoded, self._decoded + len(decoded)
            if output.logprobs:
                values = output.logprobs[position]
                # Bytes of a character that is not whole yet belong to the next one of the text.
                end = self._decoded + self._detokenizer.is_inside_character
                self._pending.append(TokenInfo(token_id, begin, end, values))
            text, stopped = self._check_stops(decoded)
            released += text
            if stopped:
                self._released += len(released)
                return self._delta(released, FinishReason.STOP, output)
            if self._repeats is not None and self._repeats.repeats_after(decoded):
                released += self._rest()
                self._released += len(released)
                return self._delta(released, FinishReason.STOP, output)
            loop = self._check_loop(token_id, decoded)
            is_last = reason is not None and position == len(output.new_token_ids) - 1
            if loop is not None and not is_last:
                released += self._rest()
                self._released += len(released)
                return self._delta(released, FinishReason.LOOP, output, loop)
        if reason is not None:
            released += self._rest()
        self._released += len(released)
        return self._delta(released, reason, output)

    def _rest(self) -> str:
        """Text that was held back, now that no more comes."""
        text, stopped = self._stops.feed(self._detokenizer.finish())
        return text + ("" if stopped else self._stops.finish())

    def _check_loop(self, token_id: int, decoded: str) -> Loop | None:
        if self._loops is None:
            return None
        self._text.append(decoded)
        loop = self._loops.feed(token_id, lambda: "".join(self._text))
        return loop if self.generated >= self.prompt.sampling.min_tokens else None

    def _check_stops(self, decoded: str) -> tuple[str, bool]:
        if self.generated <= self.prompt.sampling.min_tokens:
            return decoded, False
        return self._stops.feed(decoded)

    def _delta(
        self,
        text: str,
        reason: FinishReason | None,
        output: SequenceOutput,
        loop: Loop | None = None,
    ) -> Delta:
        shown = [info for info in self._pending if info.end <= self._released]
        self._pending = self._pending[len(shown) :]
        cached = output.cached_tokens
        return Delta(
            *(self.index, text, self.generated, cached, tuple(shown), reason, loop),
            stop_string=self._stops.found if reason is FinishReason.STOP else None,
            predicted=output.predicted,
            readouts=struct.unpack(f"<{len(output.readouts) // 4}f", output.readouts),
        )
