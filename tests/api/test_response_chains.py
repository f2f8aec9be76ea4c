"""A response that follows many: what is read of them is bounded by what its model can read."""

import json
import tracemalloc
from uuid import UUID, uuid4

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from backend.accounts.principal import Principal
from backend.api.models import StoredResponse
from backend.api.responses.rows import History, history_of
from backend.api.schemas.responses import ResponseCreate
from backend.generation.models import Generation
from backend.generation.pools.config import load_pools
from backend.platform.errors import ContextLengthExceeded
from tests.factories import MODEL, member

pytestmark = pytest.mark.django_db

LARGE = 1_000_000
QUERIES = 4


def stored(principal: Principal, previous: UUID | None, text: str) -> UUID:
    """A response without an answer, as one that its model refused for its length."""
    response_id = uuid4()
    Generation.objects.create(
        id=response_id,
        organization_id=principal.organization_id,
        project_id=principal.project_id,
        user_id=principal.user_id,
        request_id="r",
        endpoint="chat",
        model=MODEL,
        state="failed",
        deadline_at=timezone.now(),
        finished_at=timezone.now(),
    )
    content = [{"type": "input_text", "text": text}]
    StoredResponse.objects.create(
        id=response_id,
        organization_id=principal.organization_id,
        user_id=principal.user_id,
        previous=previous,
        items=json.dumps([{"type": "message", "role": "user", "content": content}]),
        asked="{}",
    )
    return response_id


def read(principal: Principal, newest: UUID, *, truncation: str = "disabled") -> History:
    body = ResponseCreate.model_validate(
        {
            "model": MODEL,
            "input": "And?",
            "previous_response_id": f"resp_{newest.hex}",
            "truncation": truncation,
        }
    )
    return history_of(body=body, principal=principal)


def chain_of(principal: Principal, texts: list[str]) -> UUID:
    newest: UUID | None = None
    for text in texts:
        newest = stored(principal, newest, text)
    assert newest is not None
    return newest


def test_chain_is_read_whole_in_few_queries(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    principal = member()
    newest = chain_of(principal, [f"Number {n}." for n in range(30)])
    with django_assert_num_queries(QUERIES):
        history = read(principal, newest)
    contents = [message["content"] for message in history.messages]
    assert json.dumps(contents).count("Number") == 30
    assert "Number 0." in json.dumps(contents[0])
    assert history.left_out == 0


def test_chain_longer_than_the_model_reads_is_refused() -> None:
    principal = member()
    newest = chain_of(principal, ["x" * LARGE] * 3)
    with pytest.raises(ContextLengthExceeded) as refusal:
        read(principal, newest)
    assert refusal.value.param == "previous_response_id"


def test_newest_part_of_a_long_chain_is_read_with_truncation() -> None:
    principal = member()
    newest = chain_of(principal, ["x" * LARGE, "Short.", "Shorter."])
    history = read(principal, newest, truncation="auto")
    assert len(history.messages) == 2
    assert history.left_out == 2


def test_memory_does_not_grow_with_the_chain() -> None:
    """Twelve megabytes are stored, in which a program's loop could go on for ever."""
    principal = member()
    newest = chain_of(principal, ["x" * LARGE] * 12)
    tracemalloc.start()
    try:
        read(principal, newest, truncation="auto")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10 * 32 * load_pools().find(MODEL).context_window


def test_chain_ends_at_another_users_response() -> None:
    principal = member()
    theirs = stored(member(), None, "Secret.")
    mine = stored(principal, theirs, "Mine.")
    assert "Secret" not in json.dumps(read(principal, mine).messages)
