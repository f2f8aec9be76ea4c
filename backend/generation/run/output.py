"""One choice of one answer: generated text in, checked text out, with the tokens it stands for.

Promise: no text leaves `feed` or `end` that the post-classifier has not released. What it
released may differ from what was generated (personal data is replaced), so tokens are counted
by its `settled`: how much of the generated text has been decided on.
"""

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from backend.generation.pools.chunks import UpstreamChunk
from backend.generation.run.token_accounting import TokenAccounting
from backend.generation.thoughts import ANSWER, ThoughtMarks
from backend.generation.tools import (
    CALL,
    AnswerDelta,
    CallReader,
    TextDelta,
    ThoughtDelta,
    text_of,
    unfinished_mark,
)
from backend.generation.usage import PredictedTokens
from safety.checks import PostClassifier
from safety.judge.policy import Policy
from safety.types import Halt, SafetyDecision, SafetyMessage, Verdict


@dataclass(frozen=True, slots=True)
class ResumedChoice:
    """A choice as its events tell of it: what was delivered, and the tokens of that."""

    text: str = ""
    tokens: int = 0
    begun: bool = False
    finish_reason: str | None = None
    reasoning_tokens: int = 0


class Delivery(NamedTuple):
    """What may be sent. `tokens`: of this choice, delivered so far."""

    deltas: list[AnswerDelta]
    tokens: int
    logprobs: bytes | None


class ChoiceOutput:
    """The state of one choice while it is generated.

    Attributes:
        generated: all text generated so far, released or not: what a continuation starts from.
        finish_reason: set once; nothing is fed after that.
        begun, announced: its first event, its finish event are in the log.
        halted: the decision that ended it, if one did.
        reasoning_tokens: of those delivered, the tokens of its thought.
        predicted: tokens of the prediction that were right and wrong here.
        check_s: what the post-check has taken.
    """

    def __init__(
        self,
        index: int,
        *,
        policy: Policy,
        context: Sequence[SafetyMessage],
        resumed: ResumedChoice | None = None,
    ) -> None:
        resumed = resumed or ResumedChoice()
        self.index = index
        self.begun = resumed.begun
        self.finish_reason = resumed.finish_reason
        self.announced = resumed.finish_reason is not None
        self.halted: SafetyDecision | None = None
        self.reasoning_tokens = resumed.reasoning_tokens
        self.predicted = self._predicted_before = PredictedTokens()
        self._calls = CallReader(resumed.text)
        self._marks = ThoughtMarks(resumed.text)
        self._delivered_marks = ThoughtMarks(resumed.text)
        self._generated = [resumed.text] if resumed.text else []
        self._delivered = [resumed.text] if resumed.text else []
        # Of the text generated here: what was resumed counts in neither.
        self._settled_chars = 0
        self._replayed_chars = 0
        self._unsettled = ""
        self._accounting = TokenAccounting(delivered_tokens=resumed.tokens)
        self._attempt_tokens = resumed.tokens
        self._logprobs: deque[tuple[int, bytes]] = deque()
        self._delivered_logprobs: list[bytes] = []
        self._generated_chars = 0
        self._classifier = PostClassifier(policy, context)
        self.check_s = 0.0
        self._already_sent = 0
        self._unfinished = ""
        self._calls_begun = CALL in resumed.text
        if resumed.text and not resumed.finish_reason:
            self._replay(resumed.text)

    @property
    def generated(self) -> str:
        return "".join(self._generated)

    @property
    def text(self) -> str:
        """The text delivered so far."""
        return "".join(self._delivered)

    @property
    def tokens(self) -> int:
        """The tokens of the text delivered so far."""
        return self._accounting.delivered_tokens

    @property
    def merged_logprobs(self) -> dict[str, Any] | None:
        """Of the text delivered so far; None where none were asked for."""
        parts = [orjson.loads(part) for part in self._delivered_logprobs]
        return merge_logprobs(parts) if parts else None

    @property
    def generated_tokens(self) -> int:
        return self._accounting.generated_tokens

    def begin_attempt(self) -> None:
        """A new upstream request goes on from `generated`; its token counts start at 0."""
        self._accounting.restart()
        self._attempt_tokens = self._accounting.generated_tokens
        self._predicted_before = self.predicted

    def feed(self, chunks: Sequence[UpstreamChunk]) -> Delivery | None:
        """Take what has arrived; what may be sent now, if anything.

        A chunk that does not say how many tokens there are so far counts as one token if it
        has text, until the final usage says better.
        """
        accounting, marks = self._accounting, self._marks
        texts: list[str] = []
        for chunk in chunks:
            said, usage = chunk.text, chunk.usage
            self._calls_begun = self._calls_begun or chunk.is_call
            if self._calls_begun and not chunk.is_call:
                said = ""  # what follows calls would be read as arguments
            said = marks.text_of(chunk.thought, said)
            if chunk.predicted is not None:
                self.predicted = self._predicted_before.plus(chunk.predicted)
            if usage is None:
                tokens = accounting.generated_tokens + bool(said)
            else:
                tokens = self._attempt_tokens + usage.output_tokens
            accounting.generated(len(said), tokens)
            self._generated_chars += len(said)
            if chunk.logprobs is not None:
                self._logprobs.append((self._generated_chars, chunk.logprobs))
            texts.append(said)
        text = "".join(texts)
        if not text:
            return None
        self._generated.append(text)
        self._unsettled += text
        began = time.monotonic()
        verdict = self._classifier.feed(text)
        self.check_s += time.monotonic() - began
        return self._deliver(verdict)

    def end(self, reason: str, final_output_tokens: int | None = None) -> Delivery | None:
        """The choice ended: release what is held back, if it passes.

        Args:
            reason: becomes `finish_reason`, unless the last check halts it.
            final_output_tokens: the upstream's own count for this attempt, at a regular end.
        """
        if self.finish_reason is not None:
            return None
        began = time.monotonic()
        verdict = self._classifier.finish()
        self.check_s += time.monotonic() - began
        delivery = self._deliver(verdict)
        if self.halted is None:
            self.finish_reason = reason
            exact = final_output_tokens
            self._accounting.all_delivered(None if exact is None else self._attempt_tokens + exact)
            if self._delivered_marks.is_thinking:
                self.reasoning_tokens = self.tokens
        return delivery

    def decision(self) -> SafetyDecision:
        """What the post-classifier found, for the record."""
        return self.halted or self._classifier.decision()

    def _deliver(self, verdict: Verdict) -> Delivery | None:
        if isinstance(verdict, Halt):
            self.halted = verdict.decision
            self.finish_reason = "content_filter"
        settled = self._settle()
        text = verdict.text
        if self._already_sent:
            text = self._not_yet_sent(text)
        kept = 0
        if self._calls_begun:
            # The name of a call is one event, and no token of it counts before.
            text = self._unfinished + text
            kept = unfinished_mark(text)
            text, self._unfinished = text[: len(text) - kept], text[len(text) - kept :]
        if not text:
            return None
        deltas = self._calls.feed(text)
        if not deltas:
            return None
        if isinstance(deltas[0], ThoughtDelta):
            answer = len(text) - text.index(ANSWER) if ANSWER in text else 0
            self.reasoning_tokens = self._accounting.delivered(self._settled_chars - kept - answer)
        self._delivered.append(text_of(deltas, self._delivered_marks))
        tokens = self._accounting.delivered(self._settled_chars - kept)
        logprobs = self._take_logprobs(unchanged=text == settled)
        if not isinstance(deltas[0], TextDelta):
            logprobs = None  # OpenAI's are of content
        if logprobs is not None:
            self._delivered_logprobs.append(logprobs)
        return Delivery(deltas, tokens, logprobs)

    def _settle(self) -> str:
        """The generated text that the classifier has decided on since the last time."""
        settled_chars = max(0, self._classifier.settled - self._replayed_chars)
        count, self._settled_chars = settled_chars - self._settled_chars, settled_chars
        settled, self._unsettled = self._unsettled[:count], self._unsettled[count:]
        return settled

    def _replay(self, text: str) -> None:
        """Bring the classifier to where it was. It may hold back an end that was sent already
        (it knew more then): that much of what it releases next is dropped."""
        verdict = self._classifier.feed(text)
        if isinstance(verdict, Halt):
            self.halted = verdict.decision
            self.finish_reason = "content_filter"
        self._already_sent = len(text) - len(verdict.text)
        self._replayed_chars = len(text)

    def _not_yet_sent(self, released: str) -> str:
        sent = min(self._already_sent, len(released))
        self._already_sent -= sent
        return released[sent:]

    def _take_logprobs(self, *, unchanged: bool) -> bytes | None:
        """Of the chunks delivered in full, as they were generated: those of others would tell
        of text that was not released."""
        if not self._logprobs:
            return None
        ready: list[bytes] = []
        while self._logprobs and self._logprobs[0][0] <= self._settled_chars:
            ready.append(self._logprobs.popleft()[1])
        if not ready or not unchanged:
            return None
        if len(ready) == 1:
            return ready[0]
        return orjson.dumps(merge_logprobs([orjson.loads(part) for part in ready]))


def merge_logprobs(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Logprobs of consecutive chunks as one object: lists are joined, whatever their names."""
    merged: dict[str, Any] = {}
    for part in parts:
        for name, value in part.items():
            if isinstance(value, list) and isinstance(merged.get(name), list):
                merged[name] = merged[name] + value
            else:
                merged[name] = value if merged.get(name) is None else merged[name]
    return merged
