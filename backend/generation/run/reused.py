"""A generation that gets another one's answer: the leader's as it comes, or a stored one.

The text passes its own post-check and token accounting, as an engine's would, and is appended to
its own log. Where the leader ends early, it follows whoever leads then, or goes on from its text so
far as after the failure of a replica. A leader whose answer was stopped or failed is followed by
nobody: each computes its own, and it is found out why again.
"""

import asyncio
from contextlib import aclosing
from enum import Enum

import structlog
from django.db import DatabaseError
from redis.exceptions import RedisError

from backend.generation import metrics
from backend.generation.pools.chunks import UpstreamChunk, UpstreamErrorEvent, decode_chunk
from backend.generation.request import DONE, Event
from backend.generation.reuse.finder import MAX_LEADERS, Finder
from backend.generation.reuse.plan import ReusableAnswer, ReusePlan
from backend.generation.run.active import ActiveGeneration
from backend.generation.run.attempts import Attempts
from backend.generation.run.events import EventAppender
from backend.generation.run.outcome import CANCELLED
from backend.generation.run.output import Delivery
from backend.generation.run.replay import EventMeta
from backend.generation.thoughts import split_thought
from backend.generation.usage import Usage
from backend.platform.errors import NotFound

log = structlog.get_logger(__name__)


class _End(Enum):
    """How following ended: with the whole answer, with a leader that is gone, or for good."""

    WHOLE = "whole"
    LEFT = "left"
    ALONE = "alone"


class ReusedRun:
    """Delivers the answer of `plan`, of one choice; computes what it cannot take over."""

    def __init__(
        self,
        active: ActiveGeneration,
        plan: ReusePlan,
        events: EventAppender,
        finder: Finder,
        attempts: Attempts,
    ) -> None:
        self._active = active
        self._plan = plan
        self._events = events
        self._finder = finder
        self._attempts = attempts
        self._choice = active.choices[0]

    async def run(self) -> None:
        """Raises ParleyError as `Attempts.run`."""
        self._active.served = True
        if self._plan.answer is not None:
            self._active.clock.granted()
            self._active.clock.answered()
            self._deliver_stored(self._plan.answer)
            return
        for _ in range(MAX_LEADERS):
            if self._plan.leader is None:
                break
            end = await self._follow()
            if end is _End.WHOLE:
                return
            if end is _End.ALONE:
                break
            await self._finder.join_again(self._plan, self._active.admitted)
        self._plan.leader = None
        metrics.REUSE.labels(self._active.pool.id, "continued").inc()
        await self._attempts.run()

    def _deliver_stored(self, answer: ReusableAnswer) -> None:
        self._note_prompt(answer.input_tokens)
        self._events.begin(self._choice)
        thought, text = split_thought(answer.text)
        if thought:
            self._feed(thought, "", answer.thought_tokens)
        if text:
            self._feed("", text, answer.output_tokens)
        self._finish(answer.finish_reason, answer.output_tokens)

    async def _follow(self) -> _End:
        """Take over what the leader's events say, beyond what there is already."""
        leader = self._plan.leader
        assert leader is not None
        said = _Said(self._choice.generated)
        try:
            async with aclosing(self._finder.events(leader)) as batches:
                async for batch in batches:
                    for event in batch:
                        end = self._take(event, said)
                        if end is not None:
                            return end
        except NotFound:
            return _End.LEFT
        except (RedisError, OSError, DatabaseError) as error:
            log.warning("leader_not_read", leader=str(leader), error=str(error))
            return _End.ALONE
        if self._finder.is_draining:
            # This process is going, and hands this generation over: nothing is begun here.
            await asyncio.get_running_loop().create_future()
        return _End.LEFT

    def _take(self, event: Event, said: "_Said") -> _End | None:
        """One event of the leader; how following ends with it, if it does."""
        if event.data == DONE:
            return _End.LEFT
        if event.seq == 1:
            self._active.clock.granted()
            self._active.clock.answered()
            self._events.begin(self._choice)
            return None
        try:
            chunk = decode_chunk(event.data)
        except UpstreamErrorEvent:
            return _End.ALONE
        meta = EventMeta.decoded(event.meta)
        if meta.prompt.input_tokens:
            self._note_prompt(meta.prompt.input_tokens)
        thought, text = said.beyond(chunk.thought, chunk.text)
        if said.differs:
            return _End.ALONE
        if thought or text:
            self._feed(thought, text, meta.tokens)
        if self._choice.finish_reason is not None:
            return _End.WHOLE  # stopped by this generation's own check
        if chunk.finish_reason is None:
            return None
        if chunk.finish_reason == CANCELLED.finish_reason:
            return _End.LEFT
        if chunk.finish_reason == "content_filter":
            return _End.ALONE
        self._finish(chunk.finish_reason, meta.tokens)
        return _End.WHOLE

    def _feed(self, thought: str, text: str, tokens: int) -> None:
        chunk = UpstreamChunk(text, None, None, Usage(output_tokens=tokens), thought=thought)
        self._deliver(self._choice.feed([chunk]))
        if self._choice.finish_reason is not None:
            self._events.finish(self._choice)

    def _finish(self, reason: str, tokens: int) -> None:
        if self._choice.finish_reason is None:
            self._deliver(self._choice.end(reason, tokens))
        self._events.finish(self._choice)

    def _deliver(self, delivery: Delivery | None) -> None:
        self._active.reused_tokens = self._choice.generated_tokens
        if delivery is None:
            return
        self._events.text(self._choice, delivery)
        if self._active.clock.first_text_at is None:
            self._active.clock.first_text(self._active.check_s)

    def _note_prompt(self, input_tokens: int) -> None:
        prompt = Usage(input_tokens=input_tokens, cached_input_tokens=input_tokens)
        self._active.prompts[0] = prompt


class _Said:
    """What a leader has said so far, against what its follower has already.

    Attributes:
        differs: the leader says something else.
    """

    def __init__(self, had: str) -> None:
        self._had_thought, self._had_text = split_thought(had)
        self.differs = False

    def beyond(self, thought: str, text: str) -> tuple[str, str]:
        """Of the leader's next thought and text, what the follower has not."""
        self._had_thought, thought = self._past(self._had_thought, thought)
        self._had_text, text = self._past(self._had_text, text)
        return thought, text

    def _past(self, had: str, said: str) -> tuple[str, str]:
        same = min(len(had), len(said))
        self.differs = self.differs or had[:same] != said[:same]
        return had[same:], said[same:]
