"""What is heard or spoken as it comes: events, or the bytes of a sound.

At most once for each `Idempotency-Key`. Streams of sound are not kept, so a second request with the
key of one that was carried out gets a 409.
"""

import base64
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from django.db import IntegrityError
from django.http import StreamingHttpResponse

from backend.accounts.principal import AuthenticatedRequest
from backend.api.generations import id_header
from backend.api.idempotency import (
    HEADER,
    answer_lost,
    claimed,
    forget,
    in_use,
    refuse_if_succeeded,
)
from backend.api.sse import EventStreamResponse, Wire
from backend.api.transcripts import transcript_event
from backend.generation.lifespan import gateway_of
from backend.generation.request import Event, StartedGeneration
from backend.generation.service import voice_events
from backend.generation.voice import (
    SpeechRequest,
    TranscriptionRequest,
    VoiceEvent,
    VoiceRequest,
    audio_of,
)
from backend.platform.database import in_database, release_connection
from backend.platform.errors import ParleyError
from backend.platform.json import encode_json

Delivered = AsyncGenerator[VoiceEvent | StartedGeneration]


def _error(error: ParleyError) -> bytes:
    return b"data: %s\n\n" % encode_json({"type": "error", **error.as_dict()})


_EVENTS = Wire(lambda event: b"data: %s\n\n" % event.data, _error, lambda event: False)


async def transcription_events_once(
    request: AuthenticatedRequest, wanted: TranscriptionRequest
) -> EventStreamResponse:
    """OpenAI's `transcript.text.delta` and `.done`."""
    content = wanted.path.encode() + b"\n" + wanted.audio
    started, delivered = await _begun(_once(request, wanted, content))
    return EventStreamResponse(
        _numbered(_transcripts(delivered)),
        headers=_headers(started),
        request=request,
        wire=_EVENTS,
    )


async def speech_once(
    request: AuthenticatedRequest, wanted: SpeechRequest, *, as_events: bool
) -> StreamingHttpResponse:
    """The sound as it is made, or OpenAI's `speech.audio.delta` and `.done`."""
    started, delivered = await _begun(_once(request, wanted, request.body))
    if as_events:
        return EventStreamResponse(
            _numbered(_sounds(delivered)),
            headers=_headers(started),
            request=request,
            wire=_EVENTS,
        )
    first = await anext(delivered)
    assert not isinstance(first, StartedGeneration)
    return _SoundResponse(delivered, first["content_type"], _headers(started))


class _SoundResponse(StreamingHttpResponse):
    """Bytes as they come. A failure breaks the connection, so that nobody takes a part for all."""

    def __init__(self, delivered: Delivered, content_type: str, headers: dict[str, str]) -> None:
        self._bytes = _bytes_of(delivered)
        super().__init__(self._bytes, content_type=content_type, headers=headers)

    def __aiter__(self) -> AsyncIterator[bytes]:
        """The stream itself: Django's wrapper would leave it open when the client leaves."""
        return self._bytes


async def _bytes_of(delivered: Delivered) -> AsyncGenerator[bytes]:
    async with aclosing(delivered):
        async for event in delivered:
            if not isinstance(event, StartedGeneration) and (sound := audio_of(event)):
                yield sound


async def _begun(delivered: Delivered) -> tuple[StartedGeneration, Delivered]:
    """How it was admitted: what is refused has an HTTP status of its own."""
    started = await anext(delivered)
    assert isinstance(started, StartedGeneration)
    return started, delivered


async def _once(request: AuthenticatedRequest, wanted: VoiceRequest, content: bytes) -> Delivered:
    """The events of `wanted`; its key is held until they have ended."""
    await release_connection()
    gateway = gateway_of(request.scope)
    if HEADER not in request.headers:
        async with aclosing(voice_events(gateway, wanted)) as events:
            async for event in events:
                yield event
        return
    async with claimed(request, content) as claim:
        if claim.created_at is not None:
            raise answer_lost()

        def stores(_: Any) -> None:
            refuse_if_succeeded(claim)

        once = replace(wanted, generation_id=claim.generation_id, stores=stores)
        begun = False
        try:
            async with aclosing(voice_events(gateway, once)) as events:
                async for event in events:
                    begun = True
                    yield event
        except IntegrityError:  # a request that held the key before this one has just ended
            raise in_use() from None
        except ParleyError:
            if not begun:
                await in_database(forget, claim)
            raise


async def _transcripts(delivered: Delivered) -> AsyncGenerator[dict[str, Any]]:
    segments: list[dict[str, Any]] = []
    async with aclosing(delivered):
        async for event in delivered:
            if isinstance(event, StartedGeneration):
                continue
            if (shown := transcript_event(event, segments)) is not None:
                yield shown


async def _sounds(delivered: Delivered) -> AsyncGenerator[dict[str, Any]]:
    characters = 0
    async with aclosing(delivered):
        async for event in delivered:
            if isinstance(event, StartedGeneration):
                continue
            characters = event.get("characters", characters)
            if sound := audio_of(event):
                audio = base64.b64encode(sound).decode()
                yield {"type": "speech.audio.delta", "audio": audio}
    # OpenAI counts tokens here; this server counts characters, and says so.
    usage = {"type": "characters", "characters": characters}
    yield {"type": "speech.audio.done", "usage": usage}


async def _numbered(events: AsyncGenerator[dict[str, Any]]) -> AsyncGenerator[Event]:
    number = 0
    async with aclosing(events):
        async for event in events:
            number += 1
            yield Event(number, encode_json(event))


def _headers(started: StartedGeneration) -> dict[str, str]:
    return {**started.headers, **id_header(started.id)}
