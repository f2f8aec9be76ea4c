"""What is stored of a response: its input, its parameters, which response it follows.

Its answer stands beside its generation (`generation.models.StoredAnswer`). Both are kept for 30
days, or until they are deleted. As all answers they belong to one user of one organization.
"""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from pydantic import TypeAdapter

from backend.accounts.data_policy import organizations_with_retention, projects_with_retention
from backend.accounts.legal_hold import refuse_held, without_held
from backend.accounts.principal import Principal
from backend.api.models import StoredChat, StoredResponse
from backend.api.responses.items import input_items, messages_of, output_items
from backend.api.responses.objects import (
    generation_id_of,
    not_found,
    parameters,
    response_object,
    status_of,
)
from backend.api.schemas.responses import Item, ResponseCreate
from backend.generation.models import OPEN_STATES, Generation, StoredAnswer
from backend.generation.pools.config import PoolConfig, load_pools
from backend.generation.reuse.answers import answer_forget
from backend.generation.tools import split_calls
from backend.generation.usage import Usage
from backend.platform.errors import ContextLengthExceeded, InvalidRequest, ParleyError
from backend.platform.pages import delete_in_pages

KEPT = timedelta(days=30)
MAX_CHAIN = 500
"""Responses that one may follow."""

# What is read of earlier responses, as it is stored: as much text as the model's window can hold,
# with room for the JSON around it, and some images where it sees them.
_BYTES_OF_TOKEN = 32
_MAX_TEXT_BYTES = 8 * 1024 * 1024
_MAX_IMAGE_BYTES = 8 * 1024 * 1024

_CHAIN = """
WITH RECURSIVE chain AS (
    SELECT id, previous, octet_length(items) AS bytes, 1 AS number FROM api_storedresponse
    WHERE id = %(newest)s AND organization_id = %(organization)s AND user_id = %(user)s
    UNION ALL
    SELECT row.id, row.previous, octet_length(row.items), number + 1
    FROM chain JOIN api_storedresponse AS row ON row.id = chain.previous
    WHERE organization_id = %(organization)s AND user_id = %(user)s AND number < %(most)s
)
SELECT id, bytes + coalesce(octet_length(text), 0)
FROM chain LEFT JOIN generation_storedanswer ON generation_id = id ORDER BY number
"""

_ITEMS: TypeAdapter[list[Item]] = TypeAdapter(list[Item])


@dataclass(frozen=True, slots=True)
class History:
    """What a response follows.

    Attributes:
        messages: the chat's, oldest first.
        left_out: at least so many messages before them are not read.
    """

    messages: list[dict[str, Any]]
    left_out: int = 0


class _Link(NamedTuple):
    id: UUID
    bytes: int


@dataclass(frozen=True, slots=True)
class Found:
    """A stored response and its generation."""

    row: StoredResponse
    generation: Generation
    text: str

    @property
    def asked(self) -> dict[str, Any]:
        """See `objects.parameters`."""
        asked: dict[str, Any] = json.loads(self.row.asked)
        return asked

    def as_object(self) -> dict[str, Any]:
        generation = self.generation
        status, incomplete = status_of(generation.state, generation.finish_reason)
        error = None
        if status == "failed":
            error = ParleyError(f"The response failed: {generation.error_code or 'server_error'}.")
        usage = Usage.of(generation)
        ended = "completed" if status == "completed" else "incomplete"
        return response_object(
            self.row.pk,
            generation.created_at,
            self.asked,
            status=status,
            output=output_items(self.row.pk, self.text, status=ended) if self.text else [],
            usage=None if generation.is_open else usage,
            error=error,
            incomplete=incomplete,
            model=generation.model,
        )


def response_store(*, generation_id: UUID, principal: Principal, body: ResponseCreate) -> None:
    """Store what was asked."""
    previous = body.previous_response_id
    StoredResponse.objects.create(
        id=generation_id,
        organization_id=principal.organization_id,
        user_id=principal.user_id,
        previous=generation_id_of(previous) if previous else None,
        items=json.dumps([item.model_dump(exclude_none=True) for item in input_items(body)]),
        asked=json.dumps(parameters(body)),
    )


def response_get(*, text_id: str, principal: Principal) -> Found:
    """Raises NotFound: there is none, or it is another user's."""
    row = _own(principal).filter(pk=generation_id_of(text_id)).first()
    generation = Generation.objects.filter(pk=row.pk).first() if row else None
    if row is None or generation is None:
        raise not_found(text_id)
    stored = StoredAnswer.objects.filter(pk=row.pk).first()
    return Found(row, generation, stored.text if stored else "")


@transaction.atomic
def response_delete(*, text_id: str, principal: Principal) -> None:
    """Its content is gone at once; its generation stays, for the bill.

    Raises:
        NotFound: as `response_get`. LegallyHeld.
    """
    found = response_get(text_id=text_id, principal=principal)
    refuse_held(organization_id=principal.organization_id, user_id=principal.user_id)
    StoredAnswer.objects.filter(pk=found.row.pk).delete()
    answer_forget(generation_id=found.row.pk)
    found.row.delete()


def history_of(*, body: ResponseCreate, principal: Principal) -> History:
    """The chat's messages of the response that `body` follows and of those before it.

    What is read is bounded by what the model can read, whatever is stored: with `truncation` `auto`
    the newest part of it.

    Raises:
        InvalidRequest: there is no such response, or it has not ended.
        ContextLengthExceeded: it is longer than the model can read.
    """
    text_id = body.previous_response_id or ""
    chain = _chain(_previous(text_id), principal)
    generation = Generation.objects.filter(pk=chain[0].id).first() if chain else None
    if generation is None:
        raise _no_previous(text_id)
    if generation.is_open:
        raise InvalidRequest(
            f"The response '{text_id}' has not ended yet.", param="previous_response_id"
        )
    bound = _max_bytes(load_pools().find(body.model))
    sizes = accumulate(link.bytes for link in chain)
    read = [link for link, size in zip(chain, sizes, strict=True) if size <= bound]
    if len(read) < len(chain) and body.truncation != "auto":
        raise ContextLengthExceeded(
            "The responses that this one follows are longer than the model can read. Begin anew, or"
            " ask with `truncation` `auto`.",
            param="previous_response_id",
        )
    ids = [link.id for link in reversed(read)]
    rows = StoredResponse.objects.in_bulk(ids)
    answers = dict(StoredAnswer.objects.filter(pk__in=ids).values_list("generation_id", "text"))
    messages: list[dict[str, Any]] = []
    for pk in ids:
        if pk in rows:  # else it was deleted just now
            messages += messages_of(_ITEMS.validate_json(rows[pk].items))
            messages += _answer_messages(pk, answers.get(pk, ""))
    return History(messages, left_out=2 * (len(chain) - len(read)))


def _chain(newest: UUID, principal: Principal) -> list[_Link]:
    """A response and those before it, newest first, without their content."""
    parameters: dict[str, Any] = {
        "newest": newest,
        "organization": principal.organization_id,
        "user": principal.user_id,
        "most": MAX_CHAIN,
    }
    with connection.cursor() as cursor:
        cursor.execute(_CHAIN, parameters)
        return [_Link(*row) for row in cursor.fetchall()]


def _max_bytes(pool: PoolConfig) -> int:
    images = _MAX_IMAGE_BYTES if "vision" in pool.capabilities else 0
    return min(pool.context_window * _BYTES_OF_TOKEN, _MAX_TEXT_BYTES) + images


def input_list(found: Found) -> list[dict[str, Any]]:
    """Its own input items, as OpenAI lists them."""
    items = []
    for number, item in enumerate(json.loads(found.row.items)):
        shown = {**item, "id": item.get("id") or f"{item['type']}_{found.row.pk.hex}_{number}"}
        if isinstance(item.get("content"), str):
            kind = "output_text" if item.get("role") == "assistant" else "input_text"
            shown["content"] = [{"type": kind, "text": item["content"]}]
        if item["type"] == "message":
            shown.setdefault("status", "completed")
        items.append(shown)
    return items


def responses_hand_over(*, organization_id: UUID, user_id: UUID, to: UUID) -> int:
    """A leaving member's stored responses become those of the member `to`. Returns how many."""
    return StoredResponse.objects.filter(organization_id=organization_id, user_id=user_id).update(
        user_id=to
    )


@transaction.atomic
def responses_delete_of_member(*, organization_id: UUID, user_id: UUID) -> int:
    """A leaving member's stored responses, with their answers; what a legal hold keeps stays."""
    theirs = without_held(
        StoredResponse.objects.filter(organization_id=organization_id, user_id=user_id),
        organization="organization_id",
        user="user_id",
    )
    StoredAnswer.objects.filter(pk__in=theirs.values("pk")).delete()
    return theirs.delete()[0]


def purge_responses() -> int:
    """Delete responses and stored chat completions that are older than 30 days, or than their
    organization keeps; how many."""
    now, deleted = timezone.now(), _purge_before(Q(), timezone.now() - KEPT)
    for organization_id, days in organizations_with_retention():
        mine = Q(organization_id=organization_id)
        deleted += _purge_before(mine, now - timedelta(days=days))
    for project_id, days in projects_with_retention():
        deleted += _purge_before(Q(project_id=project_id), now - timedelta(days=days))
    return deleted


def _purge_before(of: Q, before: datetime) -> int:
    """Of the generations that `of` names."""
    generations = Generation.objects.filter(of, created_at__lt=before, stored_answer__isnull=False)
    held = {"organization": "organization_id", "user": "user_id"}
    ended = without_held(generations, **held).exclude(state__in=OPEN_STATES)
    delete_in_pages(StoredAnswer.objects.filter(generation__in=ended))
    open_ones = Generation.objects.filter(pk=OuterRef("pk"), state__in=OPEN_STATES)
    responses = StoredResponse.objects.filter(~Exists(open_ones), created_at__lt=before)
    chats = StoredChat.objects.filter(~Exists(open_ones), created_at__lt=before)
    if of:
        ours = Generation.objects.filter(of).values("pk")
        responses, chats = responses.filter(pk__in=ours), chats.filter(pk__in=ours)
    return delete_in_pages(without_held(responses, **held), by="created_at") + delete_in_pages(
        without_held(chats, **held), by="created_at"
    )


def _own(principal: Principal) -> Any:
    return StoredResponse.objects.filter(
        organization_id=principal.organization_id, user_id=principal.user_id
    )


def _previous(text_id: str) -> UUID:
    try:
        return generation_id_of(text_id)
    except ParleyError:
        raise _no_previous(text_id) from None


def _no_previous(text_id: str) -> InvalidRequest:
    return InvalidRequest(
        f"Previous response with id '{text_id[:64]}' not found.",
        param="previous_response_id",
        code="previous_response_not_found",
    )


def _answer_messages(generation_id: UUID, text: str) -> list[dict[str, Any]]:
    content, calls = split_calls(text)
    if not content and not calls:
        return []
    message: dict[str, Any] = {"role": "assistant", "content": content or None}
    if calls:
        message["tool_calls"] = [
            {
                "id": item["call_id"],
                "type": "function",
                "function": {"name": item["name"], "arguments": item["arguments"]},
            }
            for item in output_items(generation_id, text)
            if item["type"] == "function_call"
        ]
    return [message]
