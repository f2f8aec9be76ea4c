"""What is heard and spoken: one request to a voice server, under the same limits, budgets and books
as answers.

A recording is billed by the begun second, a text by the character, both for as far as their answer
was delivered. As with embeddings there is no lease and no row while it runs: the generation is
stored, ended and billed in one transaction when the answer has ended, or when its reader has left,
as soon as PostgreSQL can. A process that dies in between bills nothing. The text to be spoken
passes the pre-check first; a refused one is stored as every refused prompt is.
"""

import asyncio
import base64
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Any, ClassVar
from urllib.parse import urlencode
from uuid import UUID

import orjson
import structlog
from django.db import transaction

from backend.accounts.principal import Principal
from backend.generation.admission.pipeline import Admission, AdmissionPipeline
from backend.generation.admission.prompt_check import spoken_text_check, spoken_text_create
from backend.generation.finish.settle import Settlement
from backend.generation.finish.waiting import whole_generation_store
from backend.generation.models import GenerationState
from backend.generation.pools.client import UpstreamClient
from backend.generation.pools.config import PoolConfig
from backend.generation.pools.errors import ReplicaUnavailable, RequestRefused
from backend.generation.pools.replicas import Replica
from backend.generation.records import Checked, FinalState, Finished, generation_finish
from backend.generation.request import Endpoint, GenerationRequest, admitted_now
from backend.generation.usage import Usage
from backend.platform.cancellation import uninterrupted
from backend.platform.database import in_database
from backend.platform.errors import UpstreamFailed

log = structlog.get_logger(__name__)

VoiceEvent = dict[str, Any]
MAX_AUDIO_BYTES = 25 * 1024 * 1024
MAX_AUDIO_S = 1_500
MAX_SPOKEN_CHARACTERS = 4_096
_MAX_ATTEMPTS = 3
_WAV_HEAD = 44


@dataclass(frozen=True, slots=True, kw_only=True)
class _Voice:
    """What both have.

    Attributes:
        generation_id: chosen by the caller; a second one of one id fails with IntegrityError.
        stores: called in the transaction that bills it, with the whole answer where it is whole.
    """

    principal: Principal
    request_id: str
    client_hash: str
    model: str
    generation_id: UUID | None = None
    stores: Callable[[Any], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptionRequest(_Voice):
    """
    Attributes:
        answer: what the caller gets, of the events; for those who wait for all of it.
    """

    audio: bytes
    answer: Callable[[list[VoiceEvent]], dict[str, Any] | str]
    translates: bool = False
    language: str = ""
    prompt: str = ""
    temperature: float = 0.0
    wants_words: bool = False

    text: ClassVar[str | None] = None
    max_characters: ClassVar[int] = 0
    content_type: ClassVar[str] = "application/octet-stream"

    @property
    def endpoint(self) -> Endpoint:
        return "translation" if self.translates else "transcription"

    @property
    def path(self) -> str:
        asked = {
            "task": "translate" if self.translates else "transcribe",
            "language": self.language,
            "prompt": self.prompt,
            "temperature": self.temperature,
            "words": int(self.wants_words),
        }
        return f"/transcribe?{urlencode(asked)}"

    @property
    def body(self) -> bytes:
        return self.audio

    @property
    def max_seconds(self) -> int:
        """The most that it can be billed: of plain PCM its length says it, else the limit."""
        if self.audio[:4] == b"RIFF" and self.audio[12:16] == b"fmt ":
            kind, a_second = self.audio[20:22], _pcm_bytes_a_second(self.audio)
            if kind == b"\x01\x00" and a_second:
                return min(MAX_AUDIO_S, ceil((len(self.audio) - _WAV_HEAD) / a_second) + 1)
        return MAX_AUDIO_S

    def used(self, event: VoiceEvent, before: Usage) -> Usage:
        """What is to be billed after `event`: as far as was heard, in the end all of it."""
        if "segment" in event:
            return before.with_(audio_seconds=ceil(event["segment"]["end"]))
        return before.with_(audio_seconds=event["done"]["seconds"]) if "done" in event else before


def _pcm_bytes_a_second(wav: bytes) -> int:
    """By channels, rate and bits: what the decoder goes by too."""
    channels, rate = int.from_bytes(wav[22:24], "little"), int.from_bytes(wav[24:28], "little")
    return channels * rate * int.from_bytes(wav[34:36], "little") // 8


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechRequest(_Voice):
    """A text to be spoken."""

    text: str
    voice: str
    form: str
    speed: float = 1.0

    endpoint: ClassVar[Endpoint] = "speech"
    path: ClassVar[str] = "/speak"
    content_type: ClassVar[str] = "application/json"
    max_seconds: ClassVar[int] = 0

    @property
    def body(self) -> bytes:
        asked = {"input": self.text, "voice": self.voice, "format": self.form, "speed": self.speed}
        return orjson.dumps(asked)

    @property
    def max_characters(self) -> int:
        return len(self.text)

    def used(self, event: VoiceEvent, before: Usage) -> Usage:
        """The characters whose sound has been delivered."""
        spoken = min(int(event.get("characters", 0)), len(self.text))
        return before.with_(spoken_characters=max(spoken, before.spoken_characters))


VoiceRequest = TranscriptionRequest | SpeechRequest


def audio_of(event: VoiceEvent) -> bytes:
    """The sound that an event of speech brings."""
    return base64.b64decode(event.get("audio", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiceParts:
    """What of the gateway is needed."""

    pipeline: AdmissionPipeline
    client: UpstreamClient
    settlement: Settlement
    timeout_s: float


class VoiceCall:
    """One request that was admitted."""

    def __init__(self, parts: VoiceParts, request: VoiceRequest, admission: Admission) -> None:
        self._parts = parts
        self._request = request
        self._admission = admission
        self._checks: list[Checked] = []
        self._replica = ""

    @property
    def id(self) -> UUID:
        return self._admission.admitted.id

    @property
    def ratelimit_headers(self) -> dict[str, str]:
        return self._admission.ratelimit_headers

    async def check(self) -> None:
        """Raises ContentBlocked: the text is not to be spoken. It is stored as refused then."""
        if self._request.text is None:
            return
        self._admission.admitted, self._checks = await in_database(
            spoken_text_check, self._admission.admitted, model=self._admission.pool.id
        )

    async def events(self) -> AsyncGenerator[VoiceEvent]:
        """The server's events, of the first replica that begins to answer.

        Raises:
            ParleyError: it was refused, or failed; also after some events.
        """
        ticket, pool = self._admission.ticket, self._admission.pool
        assert ticket is not None
        try:
            async with asyncio.timeout(self._parts.timeout_s):
                replica: Replica | None = await ticket.granted()
        except TimeoutError:
            raise UpstreamFailed(
                f"No replica of {pool.id!r} was free in time. Try again."
            ) from None
        failed: list[Replica] = []
        while replica is not None and len(failed) < _MAX_ATTEMPTS:
            begun = False
            self._replica = replica.config.name
            try:
                async with aclosing(self._asked(replica)) as events:
                    async for event in events:
                        begun = True
                        yield event
                replica.breaker.succeeded()
                return
            except RequestRefused as refused:
                raise refused.error from refused
            except ReplicaUnavailable as error:
                log.warning("replica_failed", replica=replica.config.name, error=str(error))
                if not error.busy:
                    replica.failed(str(error))
                if begun:
                    break  # what was delivered cannot be taken back
                failed.append(replica)
                replica = ticket.move(failed)
                if replica in failed:
                    break
        raise UpstreamFailed(f"No replica of {pool.id!r} could serve this. Try again.")

    async def finish(
        self,
        usage: Usage,
        state: GenerationState,
        stores: Callable[[], None] | None = None,
    ) -> None:
        """Store and bill it; what it used takes the place of what was set aside."""
        admission = self._admission
        store = partial(_store, admission, self._checks, self._replica, usage, state, stores)
        finished = await whole_generation_store(admission.admitted, store)
        admission.taken.clear()
        await self._parts.settlement.limits(admission.admitted, usage)
        await self._parts.settlement.budget(admission.admitted, finished.facts)

    def _asked(self, replica: Replica) -> AsyncGenerator[VoiceEvent]:
        request = self._request
        return self._parts.client.events(
            replica.config,
            request.path,
            request.body,
            content_type=request.content_type,
            request_id=request.request_id,
        )


@asynccontextmanager
async def voice_call(
    parts: VoiceParts, pool: PoolConfig, request: VoiceRequest
) -> AsyncIterator[VoiceCall]:
    """`request`, admitted; what was taken for it is given back at the end unless it is finished.

    Raises:
        ParleyError: it was refused.
    """
    admission = _admission(pool, request, parts.timeout_s)
    await parts.pipeline.admit(admission, parts.pipeline.for_embeddings)
    assert admission.ticket is not None
    try:
        call = VoiceCall(parts, request, admission)
        await call.check()
        yield call
    finally:
        await parts.pipeline.undo(admission)
        admission.ticket.release()


async def voice_whole(call: VoiceCall, request: TranscriptionRequest) -> dict[str, Any] | str:
    """The whole answer; billed before the caller gets it, and only if they get it."""
    events = [event async for event in call.events()]
    usage = Usage()
    for event in events:
        usage = request.used(event, usage)
    answer = request.answer(events)
    stores = partial(request.stores, answer) if request.stores is not None else None
    await uninterrupted(call.finish, usage, GenerationState.COMPLETED, stores)
    return answer


async def voice_stream(call: VoiceCall, request: VoiceRequest) -> AsyncGenerator[VoiceEvent]:
    """The events as they come. However it ends, what was handed out is billed."""
    usage, state = Usage(), GenerationState.FAILED
    try:
        async with aclosing(call.events()) as events:
            async for event in events:
                usage = request.used(event, usage)
                state = GenerationState.CANCELLED  # unless the next one is asked for
                yield event
                state = GenerationState.FAILED
        state = GenerationState.COMPLETED
    except asyncio.CancelledError:
        state = GenerationState.CANCELLED
        raise
    finally:
        if usage != Usage() or state is GenerationState.COMPLETED:
            stores = partial(request.stores, None) if request.stores is not None else None
            await uninterrupted(call.finish, usage, state, stores)


def _admission(pool: PoolConfig, request: VoiceRequest, timeout_s: float) -> Admission:
    generation = GenerationRequest(
        principal=request.principal,
        request_id=request.request_id,
        client_hash=request.client_hash,
        endpoint=request.endpoint,
        model=pool.id,
        prompt=request.text,
    )
    return Admission(
        admitted=admitted_now(generation, generation_id=request.generation_id, timeout_s=timeout_s),
        pool=pool,
        max_input_tokens=0,
        max_output_tokens=0,
        max_seconds=request.max_seconds,
        max_characters=request.max_characters,
    )


@transaction.atomic
def _store(
    admission: Admission,
    checks: list[Checked],
    replica: str,
    usage: Usage,
    state: GenerationState,
    stores: Callable[[], None] | None,
) -> Finished:
    admitted = admission.admitted
    row = spoken_text_create(admitted, model=admission.pool.id, checks=checks)
    if stores is not None:
        stores()
    reasons = {GenerationState.COMPLETED: "stop", GenerationState.CANCELLED: "cancelled"}
    return generation_finish(
        generation_id=admitted.id,
        row=row,
        epoch=1,
        final=FinalState(
            state=state,
            finish_reason=reasons.get(state, "error"),
            text="",
            usage=usage,
            pool=admission.pool.id,
            replica=replica,
            started_at=admitted.created_at,
        ),
    )
