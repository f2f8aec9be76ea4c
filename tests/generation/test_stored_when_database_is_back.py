"""Voice, embeddings and transcripts wait for a PostgreSQL that is away at their end, as answers do;
what was stored although its reply was lost is stored and billed once."""

import base64
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from django.db import OperationalError

from backend.accounts.principal import Principal
from backend.generation import embeddings, voice
from backend.generation.embeddings import EmbeddingRequest
from backend.generation.gateway import Gateway
from backend.generation.models import Generation
from backend.generation.service import embeddings_create, transcription_create, voice_events
from backend.generation.voice import SpeechRequest, TranscriptionRequest
from backend.platform.database import in_database
from billing.models import UsageRecord
from infra.load.upstream import SyntheticUpstream
from tests.factories import MODEL
from tests.support.gateway import caller, pools_of, running_gateway

CAPABILITIES = ("speech", "transcriptions", "embeddings")
TEXT = "A text of sixty characters which somebody wants to hear now."

pytestmark = pytest.mark.parametrize("is_carried_out", [False, True])


@pytest.fixture
async def principal(transactional_db: None) -> Principal:
    return await caller()


@pytest.fixture
async def serving(
    transactional_db: None, upstream: SyntheticUpstream, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Gateway]:
    """A gateway whose replica speaks, hears and embeds at once."""

    async def answered(replica: Any, path: str, *args: Any, **options: Any) -> AsyncIterator[Any]:
        if path == SpeechRequest.path:
            sound = base64.b64encode(b"x" * 1000).decode()
            yield {"content_type": "audio/wav"}
            yield {"audio": sound, "characters": len(TEXT)}
        else:
            yield {"done": {"seconds": 7}}

    async def embedded(*args: Any, **options: Any) -> dict[str, Any]:
        return {"data": [{"embedding": [0.5]}], "usage": {"prompt_tokens": 3, "total_tokens": 3}}

    async with running_gateway(pools_of(upstream, capabilities=CAPABILITIES)) as gateway:
        monkeypatch.setattr(gateway.client, "events", answered)
        monkeypatch.setattr(gateway.client, "answer_whole", embedded)
        yield gateway


def away_twice(
    monkeypatch: pytest.MonkeyPatch, module: Any, *, is_carried_out: bool
) -> Callable[[], int]:
    """The first two transactions fail, the first of them maybe after it was committed; how many
    were tried."""
    store, tried = module._store, 0

    def failing(*args: Any) -> Any:
        nonlocal tried
        tried += 1
        finished = store(*args) if is_carried_out or tried > 2 else None
        if tried <= 2:
            raise OperationalError("the server closed the connection unexpectedly")
        return finished

    monkeypatch.setattr(module, "_store", failing)
    return lambda: tried


async def billed_once(principal: Principal) -> UsageRecord:
    def stored() -> list[UsageRecord]:
        assert Generation.objects.filter(organization_id=principal.organization_id).count() == 1
        return list(UsageRecord.objects.filter(organization_id=principal.organization_id))

    [record] = await in_database(stored)
    return record


async def test_speech_is_billed_when_the_database_is_back(
    serving: Gateway, principal: Principal, monkeypatch: pytest.MonkeyPatch, is_carried_out: bool
) -> None:
    tried = away_twice(monkeypatch, voice, is_carried_out=is_carried_out)
    request = SpeechRequest(
        principal=principal, request_id="r", client_hash="", model=MODEL, text=TEXT, voice="v",
        form="wav",
    )  # fmt: skip
    heard = 0
    async for event in voice_events(serving, request):
        if isinstance(event, dict):
            heard += len(voice.audio_of(event))
    assert heard == 1000
    assert tried() == (1 if is_carried_out else 3)
    assert (await billed_once(principal)).spoken_characters == len(TEXT)


async def test_transcript_is_billed_when_the_database_is_back(
    serving: Gateway, principal: Principal, monkeypatch: pytest.MonkeyPatch, is_carried_out: bool
) -> None:
    away_twice(monkeypatch, voice, is_carried_out=is_carried_out)
    request = TranscriptionRequest(
        principal=principal, request_id="r", client_hash="", model=MODEL, audio=b"sound",
        answer=lambda events: "heard",
    )  # fmt: skip
    answer = await transcription_create(serving, request)
    assert answer.body == "heard"
    assert (await billed_once(principal)).audio_seconds == 7


async def test_embeddings_are_billed_when_the_database_is_back(
    serving: Gateway, principal: Principal, monkeypatch: pytest.MonkeyPatch, is_carried_out: bool
) -> None:
    away_twice(monkeypatch, embeddings, is_carried_out=is_carried_out)
    request = EmbeddingRequest(
        principal=principal, request_id="r", client_hash="", model=MODEL, inputs=["one two three"]
    )
    answer = await embeddings_create(serving, request)
    assert isinstance(answer.body, dict) and answer.body["data"]
    assert (await billed_once(principal)).input_tokens == 3
