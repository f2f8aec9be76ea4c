"""`/v1/audio/…`: what is said in a recording, and a text spoken; the page has them below `/api`."""

from functools import partial
from typing import Annotated

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from ninja import File, Form, Router
from ninja.files import UploadedFile

from backend.accounts.principal import AuthenticatedRequest
from backend.api.client_address import client_hash
from backend.api.schemas.openai_audio import SpeechCreate, TranscriptionForm, TranslationForm
from backend.api.schemas.openai_responses import ERROR_RESPONSE
from backend.api.transcripts import transcript
from backend.api.voice_answers import speech_once, transcription_events_once
from backend.api.whole_answers import answer_whole
from backend.generation.service import transcription_create
from backend.generation.voice import MAX_AUDIO_BYTES, SpeechRequest, TranscriptionRequest
from backend.platform.errors import InvalidRequest, PayloadTooLarge

router = Router(tags=["audio"])
product_router = Router(tags=["audio"])

_TRANSCRIPT = {
    "responses": {
        200: {
            "description": "What is said, in the form that was asked for.",
            "content": {
                "application/json": {"schema": {"type": "object"}},
                "text/plain": {"schema": {"type": "string"}},
                "text/event-stream": {"schema": {"type": "string"}},
            },
        },
        "default": ERROR_RESPONSE,
    }
}
_SPEECH = {
    "responses": {
        200: {
            "description": "The sound, as it is made; or events with its parts in base64.",
            "content": {
                "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
                "text/event-stream": {"schema": {"type": "string"}},
            },
        },
        "default": ERROR_RESPONSE,
    }
}


@product_router.post("/transcriptions", openapi_extra=_TRANSCRIPT, operation_id="transcribe")
@router.post("/transcriptions", openapi_extra=_TRANSCRIPT)
async def create_transcription(
    request: AuthenticatedRequest,
    file: File[UploadedFile],
    body: Annotated[TranscriptionForm, Form()],
) -> HttpResponseBase:
    """What is said in a recording. It is billed by the begun second, and not stored."""
    _refuse_unknown(request, TranscriptionForm)
    wants_words = "word" in body.timestamp_granularities
    if body.timestamp_granularities and body.response_format != "verbose_json":
        raise InvalidRequest(
            "timestamp_granularities needs the response_format 'verbose_json'.",
            param="timestamp_granularities",
        )
    if body.stream and body.response_format not in ("json", "text"):
        raise InvalidRequest(
            "A stream has the response_format 'json' or 'text'.", param="response_format"
        )
    wanted = _wanted(request, file, body, language=body.language, wants_words=wants_words)
    if body.stream:
        return await transcription_events_once(request, wanted)
    return await _whole(request, wanted)


@router.post("/translations", openapi_extra=_TRANSCRIPT)
async def create_translation(
    request: AuthenticatedRequest,
    file: File[UploadedFile],
    body: Annotated[TranslationForm, Form()],
) -> HttpResponse:
    """What is said in a recording, in English."""
    _refuse_unknown(request, TranslationForm)
    return await _whole(request, _wanted(request, file, body, translates=True))


@product_router.post("/speech", openapi_extra=_SPEECH, operation_id="speak")
@router.post("/speech", openapi_extra=_SPEECH)
async def create_speech(request: AuthenticatedRequest, body: SpeechCreate) -> HttpResponseBase:
    """A text spoken, sentence by sentence while it is made. It is billed by the character."""
    wanted = SpeechRequest(
        principal=request.auth,
        request_id=request.request_id,
        client_hash=client_hash(request),
        model=body.model,
        text=body.input,
        voice=body.voice,
        form=body.response_format,
        speed=body.speed,
    )
    return await speech_once(request, wanted, as_events=body.stream_format == "sse")


async def _whole(request: AuthenticatedRequest, wanted: TranscriptionRequest) -> HttpResponse:
    return await answer_whole(request, wanted, transcription_create, content=_content(wanted))


def _content(wanted: TranscriptionRequest) -> bytes:
    """What tells this request from another: a form's body cannot be read twice."""
    return wanted.path.encode() + b"\n" + wanted.audio


def _wanted(
    request: AuthenticatedRequest,
    file: UploadedFile,
    body: TranslationForm,
    *,
    translates: bool = False,
    language: str = "",
    wants_words: bool = False,
) -> TranscriptionRequest:
    if (file.size or 0) > MAX_AUDIO_BYTES:
        raise PayloadTooLarge(f"The file is larger than {MAX_AUDIO_BYTES} bytes.", param="file")
    return TranscriptionRequest(
        principal=request.auth,
        request_id=request.request_id,
        client_hash=client_hash(request),
        model=body.model,
        audio=file.read(),
        answer=partial(
            transcript,
            form=body.response_format,
            task="translate" if translates else "transcribe",
            words=wants_words,
        ),
        translates=translates,
        language=language.lower(),
        prompt=body.prompt,
        temperature=body.temperature,
        wants_words=wants_words,
    )


def _refuse_unknown(request: AuthenticatedRequest, form: type[TranslationForm]) -> None:
    """As in JSON: a field that is not honoured is refused by its name."""
    known = {field.alias or name for name, field in form.model_fields.items()}
    unknown = sorted(set(request.POST) - known - {"timestamp_granularities"})
    if unknown:
        raise InvalidRequest(
            f"'{unknown[0][:60]}' is not supported by this server.",
            param=unknown[0][:60],
            code="unknown_parameter",
        )
