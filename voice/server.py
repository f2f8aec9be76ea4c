"""The server: `/transcribe` and `/speak` for the gateway, both as server-sent events.

Not OpenAI's API: the gateway has that (backend/api/routes/audio.py). Here a recording is the body
and what is asked of it the query; a text to be spoken is JSON. What is wrong with a request is said
before the first event, with a status. Closing the connection ends the work at the next window or
sentence.
"""

import asyncio
import base64
import hmac
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, replace
from math import ceil
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from voice.audio import MAX_BYTES, RATE, decode
from voice.encoders import CONTENT_TYPES, encoder_of
from voice.errors import VoiceError
from voice.heard import Task
from voice.models import Models
from voice.sentences import sentences
from voice.transcriber import Transcriber

MAX_SECONDS = 1_500
MAX_CHARACTERS = 4_096
MIN_SPEED, MAX_SPEED = 0.25, 4.0
VOICES = ("joe", "default")
_OPEN = frozenset({"/health"})


def create_app(models: Models, *, key: str, max_seconds: int = MAX_SECONDS) -> Starlette:
    """
    Args:
        key: what the gateway sends; never empty.
    """
    assert key

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        tending = asyncio.create_task(models.tend())
        yield
        tending.cancel()
        with suppress(asyncio.CancelledError):
            await tending
        models.close()

    app = Starlette(
        routes=[
            Route("/transcribe", transcribe, methods=["POST"]),
            Route("/speak", speak, methods=["POST"]),
            Route("/v1/models", list_models),
            Route("/health", health),
            Route("/ready", ready),
        ],
        exception_handlers={VoiceError: refused},
        lifespan=lifespan,
    )
    app.state.models = models
    app.state.max_seconds = max_seconds
    app.add_middleware(RequireKey, key=key)
    return app


class RequireKey:
    """Everything but `/health` asks for the key."""

    def __init__(self, app: ASGIApp, key: str) -> None:
        self._app = app
        self._expected = f"Bearer {key}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in _OPEN:
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, self._expected):
                error = {"message": "The key is missing or wrong.", "param": None, "code": None}
                await JSONResponse({"error": error}, 401)(scope, receive, send)
                return
        await self._app(scope, receive, send)


async def refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, VoiceError)
    body = {"message": str(error), "param": error.param, "code": None}
    return JSONResponse({"error": body}, error.status)


async def health(request: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def ready(request: Request) -> Response:
    """200 while a model's files are there: of `?model=ID`, else of any."""
    wanted = request.query_params.get("model")
    models: Models = request.app.state.models
    there = any(one.is_there for one in models.all if wanted in (None, one.weights.id))
    status = {"status": "ready" if there else "no model is there: `make voice` fetches them"}
    return JSONResponse(status, 200 if there else 503)


async def list_models(request: Request) -> Response:
    models: Models = request.app.state.models
    return JSONResponse(
        {
            "object": "list",
            "data": [
                {"id": one.weights.id, "object": "model", "created": 0, "owned_by": "parley"}
                for one in models.all
                if one.is_there
            ],
        }
    )


async def transcribe(request: Request) -> Response:
    """Events `{"segment": …}` as they are heard, then `{"done": {language, duration, seconds}}`."""

    asked = request.query_params
    task = Task(
        translates=asked.get("task") == "translate",
        language=asked.get("language", ""),
        prompt=asked.get("prompt", ""),
        temperature=_number(asked.get("temperature", "0"), "temperature", 0, 1),
        wants_words=asked.get("words") == "1",
    )
    data = await _body(request)
    models: Models = request.app.state.models
    samples = await decode(data, max_s=request.app.state.max_seconds)
    del data
    duration = len(samples) / RATE

    async def events() -> AsyncIterator[dict[str, Any]]:
        async with models.whisper.in_use() as (whisper, detector):
            transcriber = Transcriber(whisper, detector, models.whisper.run)
            language = task.language or await transcriber.language_of(samples)
            transcriber.require_known(language)
            yield {"begun": {"language": language, "duration": round(duration, 2)}}
            async for segment in transcriber.segments(samples, replace(task, language=language)):
                yield {"segment": asdict(segment)}
        yield {
            "done": {
                "language": language,
                "duration": round(duration, 2),
                "seconds": ceil(duration),
            }
        }

    return await _streamed(events())


async def speak(request: Request) -> Response:
    """Events `{"audio": base64, "characters": so far}`, the last with `"done": true`."""
    try:
        asked = json.loads(await _body(request))
        text, form = str(asked["input"]), str(asked.get("format", "mp3"))
        name = str(asked.get("voice", VOICES[0]))
        speed = _number(str(asked.get("speed", 1)), "speed", MIN_SPEED, MAX_SPEED)
    except (ValueError, KeyError, TypeError) as error:
        raise VoiceError("The body is not what is expected.") from error
    if name not in VOICES:
        raise VoiceError(
            f"There is no voice {name[:40]!r}; there is {VOICES[0]!r}, English.", param="voice"
        )
    if not 0 < len(text) <= MAX_CHARACTERS:
        raise VoiceError(f"The input has 1 to {MAX_CHARACTERS} characters.", param="input")
    encoder = encoder_of(form)
    models: Models = request.app.state.models

    async def events() -> AsyncIterator[dict[str, Any]]:
        characters = 0
        yield {"content_type": CONTENT_TYPES[form]}
        async with models.speaker.in_use() as speaker:
            for sentence in sentences(text):
                samples = await models.speaker.run(_said, speaker, sentence, speed)
                characters += len(sentence)
                audio = await models.speaker.run(encoder.add, samples)
                yield {"audio": base64.b64encode(audio).decode(), "characters": characters}
        rest = base64.b64encode(encoder.end()).decode()
        yield {"audio": rest, "characters": len(text), "done": True}

    return await _streamed(events())


def _said(speaker: Any, sentence: str, speed: float) -> Any:
    return speaker.say(sentence, speed=speed)


async def _body(request: Request) -> bytes:
    """At most `MAX_BYTES`, whatever the length said."""
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > MAX_BYTES:
                raise VoiceError(f"The file is larger than {MAX_BYTES} bytes.", param="file")
    except ClientDisconnect:
        raise VoiceError("The request ended before its end.") from None
    return bytes(body)


async def _streamed(events: AsyncIterator[dict[str, Any]]) -> Response:
    """The events as they come; what is wrong before the first has a status of its own."""
    first = await anext(events)

    async def encoded() -> AsyncIterator[bytes]:
        yield _event(first)
        try:
            async for event in events:
                yield _event(event)
        except Exception as error:
            yield _event({"error": f"{type(error).__name__}: {error}"})
            raise
        yield b"data: [DONE]\n\n"

    return StreamingResponse(encoded(), media_type="text/event-stream")


def _event(event: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(event, ensure_ascii=False).encode() + b"\n\n"


def _number(text: str, name: str, least: float, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not least <= value <= most:
        raise VoiceError(f"{name} is a number from {least:g} to {most:g}.", param=name)
    return value
