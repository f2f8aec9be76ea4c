"""What is stored of a chat completion: its messages, parameters and metadata.

Its answer stands beside its generation (`generation.models.StoredAnswer`). Both are kept as
responses are (`responses/rows.py`), and belong to one user of one organization.
"""

import json
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from backend.accounts.legal_hold import refuse_held
from backend.accounts.principal import Principal
from backend.api.files.paging import Order, no_such_page, rows_page
from backend.api.models import StoredChat
from backend.api.responses.paging import page_of
from backend.api.schemas.openai_chat import ChatCompletionRequest
from backend.api.stored_chats.objects import (
    generation_id_of,
    message_object,
    messages,
    not_found,
    parameters,
)
from backend.generation.finish.result import stored_completion
from backend.generation.models import OPEN_STATES, Generation, StoredAnswer
from backend.generation.request import public_id
from backend.generation.reuse.answers import answer_forget
from backend.platform.errors import NotFound


def chats_of(principal: Principal) -> QuerySet[StoredChat]:
    """Every query for stored chat completions starts here."""
    return StoredChat.objects.filter(
        organization_id=principal.organization_id, user_id=principal.user_id
    )


def chat_store(
    *, generation_id: UUID, principal: Principal, body: ChatCompletionRequest, model: str
) -> None:
    """Store what was asked, in the transaction that stores the generation."""
    StoredChat.objects.create(
        id=generation_id,
        organization_id=principal.organization_id,
        user_id=principal.user_id,
        model=model,
        messages=json.dumps(messages(body)),
        asked=json.dumps(parameters(body)),
        metadata=body.metadata or {},
    )


def chat_get(*, text_id: str, principal: Principal) -> StoredChat:
    """Raises NotFound: there is none, it is another user's, or it has not ended."""
    row = _ended(chats_of(principal)).filter(pk=generation_id_of(text_id)).first()
    if row is None:
        raise not_found(text_id)
    return row


def chat_shown(*, text_id: str, principal: Principal) -> dict[str, Any]:
    """Raises NotFound: see `chat_get`."""
    return _object(chat_get(text_id=text_id, principal=principal))


def chats_list(
    *,
    principal: Principal,
    limit: int,
    order: Order,
    after: str | None,
    model: str | None,
    metadata: dict[str, str],
) -> dict[str, Any]:
    """Those of this model and with all of this metadata.

    Raises:
        InvalidRequest: there is no `after`.
    """
    rows = _ended(chats_of(principal))
    if model is not None:
        rows = rows.filter(model=model)
    if metadata:
        rows = rows.filter(metadata__contains=metadata)
    last: StoredChat | None = None
    if after is not None:
        try:
            last = chat_get(text_id=after, principal=principal)
        except NotFound:
            raise no_such_page(after) from None
    return rows_page(rows, _object, limit=limit, after=last, order=order)


def chat_update(*, text_id: str, principal: Principal, metadata: dict[str, str]) -> dict[str, Any]:
    """Raises NotFound: see `chat_get`."""
    row = chat_get(text_id=text_id, principal=principal)
    row.metadata = metadata
    row.save(update_fields=["metadata"])
    return _object(row)


@transaction.atomic
def chat_delete(*, text_id: str, principal: Principal) -> None:
    """Its content is gone at once; its generation stays, for the bill.

    Raises:
        NotFound: see `chat_get`. LegallyHeld.
    """
    row = chat_get(text_id=text_id, principal=principal)
    refuse_held(organization_id=principal.organization_id, user_id=principal.user_id)
    StoredAnswer.objects.filter(pk=row.pk).delete()
    answer_forget(generation_id=row.pk)
    row.delete()


def messages_list(
    *, text_id: str, principal: Principal, limit: int, order: Order, after: str | None
) -> dict[str, Any]:
    """The messages that it was asked with.

    Raises:
        NotFound: see `chat_get`. InvalidRequest: there is no `after`.
    """
    row = chat_get(text_id=text_id, principal=principal)
    name = public_id(row.pk, "chat")
    shown = [
        message_object(name, number, message)
        for number, message in enumerate(json.loads(row.messages))
    ]
    return page_of(shown, limit=limit, order=order, after=after)


def _ended(rows: QuerySet[StoredChat]) -> QuerySet[StoredChat]:
    ended = Generation.objects.exclude(state__in=OPEN_STATES)
    return rows.filter(pk__in=ended.values("pk"))


def _object(row: StoredChat) -> dict[str, Any]:
    generation = Generation.objects.get(pk=row.pk)
    text = StoredAnswer.objects.filter(pk=row.pk).values_list("text", flat=True).first()
    return {
        **stored_completion(generation, text or "").as_openai(),
        **json.loads(row.asked),
        "request_id": generation.request_id,
        "metadata": row.metadata,
    }
