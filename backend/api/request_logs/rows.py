"""The only writer of logged and counted requests, and their purge."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db import connection
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from backend.accounts.data_policy import retention_ends
from backend.accounts.legal_hold import without_held
from backend.accounts.models import APIKey, DataPolicy, Organization, Project
from backend.api.models import RequestCount, RequestLog
from backend.api.request_content import content_encrypt
from backend.api.request_logs.note import Noted
from backend.generation.models import OPEN_STATES, Generation, GenerationState
from backend.platform.pages import delete_in_pages

COUNTS_KEPT = timedelta(days=92)
_HELD = {"organization": "organization_id", "user": "user_id"}

# Two processes count the same outcome of the same hour.
_COUNT = """
INSERT INTO api_requestcount
  (organization_id, api_key_id, hour, path, status, code, requests)
SELECT * FROM unnest(%s::uuid[], %s::uuid[], %s::timestamptz[], %s::text[], %s::int[], %s::text[],
  %s::int[])
ON CONFLICT (api_key_id, hour, path, status, code)
DO UPDATE SET requests = api_requestcount.requests + EXCLUDED.requests
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """What is known of a request's generation."""

    is_open: bool
    code: str
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A request to be written.

    Attributes:
        ended: its generation, None where it was refused.
        content: `request` and `answer`; None where they are not kept.
        is_logged: False: only counted.
        model: as it was asked for.
        refusal: the code of the error that it was answered with.
    """

    noted: Noted
    ended: Ended | None
    content: dict[str, Any] | None
    is_logged: bool
    model: str
    refusal: str


def ended_of(generation_ids: Iterable[UUID | None]) -> dict[UUID, Ended]:
    """By id; those that there are none of any more are left out."""
    wanted = [one for one in generation_ids if one is not None]
    if not wanted:
        return {}
    rows = Generation.objects.filter(pk__in=wanted).values_list(
        "pk", "state", "error_code", "input_tokens", "output_tokens"
    )
    return {
        pk: Ended(state in OPEN_STATES, _code(state, code), read, written)
        for pk, state, code, read, written in rows
    }


def _code(state: str, code: str) -> str:
    if state == GenerationState.BLOCKED:
        return code or "content_policy_violation"
    return code if state == GenerationState.FAILED else ""


def requests_write(entries: Sequence[Entry]) -> None:
    """Count them all, and log those that are to be. A key that was deleted meanwhile is passed
    over: its rows would be gone too."""
    ids = {key_id for entry in entries if (key_id := entry.noted.principal.key_id)}
    keys = set(APIKey.objects.filter(pk__in=ids).values_list("pk", flat=True))
    known = [entry for entry in entries if entry.noted.principal.key_id in keys]
    _count(known)
    RequestLog.objects.bulk_create([_row(entry) for entry in known if entry.is_logged])


def _count(entries: Sequence[Entry]) -> None:
    counts: Counter[tuple[Any, ...]] = Counter()
    for entry in entries:
        one = entry.noted
        hour = one.at.replace(minute=0, second=0, microsecond=0)
        owner = (one.principal.organization_id, one.principal.key_id)
        counts[(*owner, hour, one.path, one.status, _code_of(entry))] += 1
    if not counts:
        return
    # In one order in every process: two that count the same rows wait, and never deadlock.
    rows = sorted((*place, number) for place, number in counts.items())
    columns = [list(column) for column in zip(*rows, strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, columns)


def _row(entry: Entry) -> RequestLog:
    one, end = entry.noted, entry.ended
    log_id = uuid4()
    owner = one.principal
    assert owner.key_id is not None
    ciphertext = ""
    if entry.content is not None:
        ciphertext = content_encrypt(
            entry.content, organization_id=owner.organization_id, log_id=log_id
        )
    return RequestLog(
        id=log_id,
        organization_id=owner.organization_id,
        project_id=owner.project_id,
        user_id=owner.user_id,
        api_key_id=owner.key_id,
        generation_id=one.generation_id,
        path=one.path,
        model=entry.model,
        status=one.status,
        code=_code_of(entry),
        duration_ms=one.duration_ms,
        input_tokens=end.input_tokens if end else 0,
        output_tokens=end.output_tokens if end else 0,
        request_id=one.request_id,
        ciphertext=ciphertext,
        created_at=one.at,
    )


def _code_of(entry: Entry) -> str:
    return (entry.refusal or (entry.ended.code if entry.ended else ""))[:64]


def request_logs_hand_over(*, organization_id: UUID, user_id: UUID, to: UUID) -> int:
    """A leaving member's logged requests become those of the member `to`. Returns how many."""
    return RequestLog.objects.filter(organization_id=organization_id, user_id=user_id).update(
        user_id=to
    )


def request_logs_delete_of_member(*, organization_id: UUID, user_id: UUID) -> int:
    """A leaving member's logged requests; what a legal hold keeps stays. Returns how many."""
    theirs = RequestLog.objects.filter(organization_id=organization_id, user_id=user_id)
    return without_held(theirs, **_HELD).delete()[0]


def request_logs_purge(*, now: datetime | None = None) -> int:
    """Delete what is kept no longer: by the organization's days for logs, by any retention, and
    all of organizations that log no more. Returns how many logged requests."""
    moment = now or timezone.now()
    rows = without_held(RequestLog.objects.all(), **_HELD)
    logging = DataPolicy.objects.filter(logs_requests=True, stores_api_calls=True)
    deleted = sum(_purge(rows.filter(**owner)) for owner in _logging_no_more(logging))
    for organization_id, days in logging.values_list("pk", "request_log_days"):
        before = moment - timedelta(days=days)
        late = rows.filter(organization_id=organization_id, created_at__lt=before)
        deleted += _purge(late)
    for owner, kept_since in retention_ends(now=moment):
        deleted += _purge(rows.filter(**owner, created_at__lte=kept_since))
    delete_in_pages(RequestCount.objects.filter(hour__lt=moment - COUNTS_KEPT), by="hour")
    return deleted


def _purge(rows: QuerySet[RequestLog]) -> int:
    return delete_in_pages(rows, by="created_at")


def _logging_no_more(logging: QuerySet[DataPolicy]) -> list[dict[str, UUID]]:
    """The organizations and projects that have logged requests and log none now."""
    of_organization = RequestLog.objects.filter(organization_id=OuterRef("pk"))
    organizations = Organization.objects.exclude(pk__in=logging.values("pk"))
    projects = Project.objects.filter(logs_requests=False)
    of_project = RequestLog.objects.filter(project_id=OuterRef("pk"))
    return [
        {name: pk}
        for name, owners in (
            ("organization_id", organizations.filter(Exists(of_organization)).values_list("pk")),
            ("project_id", projects.filter(Exists(of_project)).values_list("pk")),
        )
        for (pk,) in owners
    ]
