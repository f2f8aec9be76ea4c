"""Who may see what of logged and counted requests. Every query for them starts here.

Owners and admins see those of all of their organization's keys, others those of their own keys.
Content is shown request by request, or looked through by a search; both are written to the audit
log.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal
from uuid import UUID

import orjson
from django.db import transaction
from django.db.models import Q, QuerySet, Sum
from django.utils import timezone

from backend.accounts.legal_hold import refuse_held
from backend.accounts.models import APIKey
from backend.accounts.principal import Principal
from backend.api.models import RequestCount, RequestLog
from backend.api.request_content import content_if_readable
from backend.audit.actions import Action
from backend.audit.services import record
from backend.conversations.cursors import NewestFirst
from backend.platform.errors import NotFound

SEARCHED = 500
"""Contents that one search reads; its cursor goes on from there."""
_BATCH = 50

Outcome = Literal["succeeded", "failed"]


@dataclass(frozen=True, slots=True)
class Filters:
    """What is looked for; None restricts nothing. `text` is looked for in request and answer."""

    key_id: UUID | None = None
    outcome: Outcome | None = None
    model: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class LogPage:
    """Attributes:
    next_cursor: there is more, or more to be searched.
    """

    rows: list[RequestLog]
    next_cursor: str | None


def logs_of(principal: Principal) -> QuerySet[RequestLog]:
    rows = RequestLog.objects.filter(organization_id=principal.organization_id)
    return rows if principal.manages_organization else rows.filter(user_id=principal.user_id)


def key_visible(*, principal: Principal, key_id: UUID) -> APIKey:
    """Raises NotFound: there is none that works, or the caller does not see it."""
    keys = APIKey.objects.filter(
        organization_id=principal.organization_id, revoked_at=None, is_internal=False
    )
    if not principal.manages_organization:
        keys = keys.filter(created_by_id=principal.user_id)
    key = keys.select_related("project", "created_by").filter(pk=key_id).first()
    if key is None:
        raise NotFound(f"There is no API key {key_id}.")
    return key


@transaction.atomic
def logs_page(*, principal: Principal, filters: Filters, cursor: str | None, limit: int) -> LogPage:
    """The newest first.

    Raises:
        InvalidRequest: `cursor`.
    """
    rows = _filtered(logs_of(principal), filters).order_by("-created_at", "-id")
    if cursor:
        rows = rows.filter(NewestFirst.decode(cursor).following())
    if filters.text:
        return _search(principal, rows, filters.text, limit)
    found = list(rows.defer("ciphertext")[: limit + 1])
    return LogPage(found[:limit], _place(found[limit - 1]) if len(found) > limit else None)


@transaction.atomic
def log_get(*, log_id: UUID, principal: Principal) -> RequestLog:
    """One, whose content may be shown: that is written to the audit log.

    Raises:
        NotFound: there is none, or the caller does not see it.
    """
    row = logs_of(principal).filter(pk=log_id).first()
    if row is None:
        raise NotFound(f"There is no logged request {log_id}.")
    record(
        Action.CONTENT_ACCESSED,
        organization_id=principal.organization_id,
        actor=principal,
        target=("request_log", row.pk),
        project_id=row.project_id,
    )
    return row


@transaction.atomic
def logs_delete(*, principal: Principal, key_id: UUID) -> int:
    """Delete all that is logged of a key, as far as the caller sees it. Returns how many.

    Raises:
        NotFound: see `key_visible`. LegallyHeld.
    """
    key = key_visible(principal=principal, key_id=key_id)
    refuse_held(organization_id=key.organization_id, user_id=key.created_by_id)
    deleted = logs_of(principal).filter(api_key_id=key.pk).delete()[0]
    record(
        Action.REQUEST_LOGS_DELETED,
        organization_id=principal.organization_id,
        actor=principal,
        target=("api_key", key.pk),
        project_id=key.project_id,
        details={"requests": deleted},
    )
    return deleted


def outcomes_of(*, key: APIKey, days: int) -> list[dict[str, Any]]:
    """How many requests of a key had which outcome, the most frequent first."""
    since = timezone.now() - timedelta(days=days)
    rows = RequestCount.objects.filter(api_key=key, hour__gte=since)
    sums = rows.values("path", "status", "code").annotate(total=Sum("requests"))
    return [dict(row) for row in sums.order_by("-total", "path", "status", "code")]


def _filtered(rows: QuerySet[RequestLog], filters: Filters) -> QuerySet[RequestLog]:
    if filters.key_id is not None:
        rows = rows.filter(api_key_id=filters.key_id)
    if filters.model is not None:
        rows = rows.filter(model=filters.model)
    if filters.outcome == "succeeded":
        rows = rows.filter(status__lt=400, code="")
    elif filters.outcome == "failed":
        rows = rows.filter(Q(status__gte=400) | ~Q(code=""))
    return rows


def _search(principal: Principal, rows: QuerySet[RequestLog], text: str, limit: int) -> LogPage:
    """Contents are encrypted, so they are read one by one, a bounded number a request."""
    record(
        Action.CONTENT_ACCESSED,
        organization_id=principal.organization_id,
        actor=principal,
        target=("request_log", "search"),
    )
    wanted, read = text.casefold(), 0
    found: list[RequestLog] = []
    last: RequestLog | None = None
    for row in _in_batches(rows):
        if len(found) == limit or read == SEARCHED:
            assert last is not None
            return LogPage(found, _place(last))
        read, last = read + 1, row
        if wanted in _searched(row):
            found.append(row)
    return LogPage(found, None)


def _in_batches(rows: QuerySet[RequestLog]) -> Iterator[RequestLog]:
    batch = list(rows[:_BATCH])
    while batch:
        yield from batch
        following = NewestFirst(batch[-1].created_at, batch[-1].pk).following()
        batch = list(rows.filter(following)[:_BATCH])


def _searched(row: RequestLog) -> str:
    """What a search looks through, in lower case."""
    content = content_if_readable(row)
    # Parsed and not as stored, where quotes and line breaks are escaped.
    texts = " ".join(_texts(content)) if content else ""
    return f"{row.request_id} {row.model} {row.code} {texts}".casefold()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
    elif value is not None:
        yield orjson.dumps(value).decode()


def _place(row: RequestLog) -> str:
    return NewestFirst(row.created_at, row.pk).encode()
