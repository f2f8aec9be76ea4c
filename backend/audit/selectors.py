"""Reads of the audit log, each of one organization. Who may read decides the caller."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from backend.audit.models import AuditEvent
from backend.platform.errors import InvalidRequest

MAX_LIMIT = 100
EXPORT_BATCH = 500


@dataclass(frozen=True, slots=True)
class Filters:
    """Which events; what is empty restricts nothing.

    Attributes:
        since, since_exclusive: from this moment on; after it.
        until, until_exclusive: up to and with this moment; before it.
    """

    actions: list[str] = field(default_factory=list)
    actor_ids: list[UUID] = field(default_factory=list)
    project_ids: list[UUID] = field(default_factory=list)
    target_ids: list[str] = field(default_factory=list)
    address: str = ""
    since: datetime | None = None
    since_exclusive: datetime | None = None
    until: datetime | None = None
    until_exclusive: datetime | None = None

    def apply(self, rows: QuerySet[AuditEvent]) -> QuerySet[AuditEvent]:
        wanted = {
            "action__in": self.actions,
            "actor_id__in": self.actor_ids,
            "project_id__in": self.project_ids,
            "target_id__in": self.target_ids,
            "address": self.address,
            "created_at__gte": self.since,
            "created_at__gt": self.since_exclusive,
            "created_at__lte": self.until,
            "created_at__lt": self.until_exclusive,
        }
        return rows.filter(**{name: value for name, value in wanted.items() if value})


@dataclass(frozen=True, slots=True)
class Page:
    items: list[AuditEvent]
    has_more: bool


def events_page(
    *,
    organization_id: UUID,
    filters: Filters,
    limit: int = 20,
    after: UUID | None = None,
    before: UUID | None = None,
) -> Page:
    """Newest first.

    Args:
        after, before: an event of this organization; the page begins after it (older), or ends
            before it (newer).
    Raises:
        InvalidRequest: `after` or `before` is no event of this organization.
    """
    rows = filters.apply(AuditEvent.objects.filter(organization_id=organization_id))
    limit = max(1, min(limit, MAX_LIMIT))
    if before is not None:
        place = _place(organization_id, before, param="before")
        newer = Q(created_at__gt=place.created_at) | Q(created_at=place.created_at, id__gt=place.id)
        found = list(rows.filter(newer).order_by("created_at", "id")[: limit + 1])
        return Page(found[:limit][::-1], len(found) > limit)
    if after is not None:
        rows = rows.filter(_older_than(_place(organization_id, after, param="after")))
    found = list(rows.order_by("-created_at", "-id")[: limit + 1])
    return Page(found[:limit], len(found) > limit)


def events_batch(
    *, organization_id: UUID, filters: Filters, last: AuditEvent | None
) -> list[AuditEvent]:
    """The next of an export, newest first, after `last`; empty at the end."""
    rows = filters.apply(AuditEvent.objects.filter(organization_id=organization_id))
    if last is not None:
        rows = rows.filter(_older_than(last))
    return list(rows.order_by("-created_at", "-id")[:EXPORT_BATCH])


def events_all(*, organization_id: UUID) -> Iterator[AuditEvent]:
    """Everything of an organization, newest first, in batches: for an export of its data."""
    last = None
    while batch := events_batch(organization_id=organization_id, filters=Filters(), last=last):
        yield from batch
        last = batch[-1]


def _place(organization_id: UUID, event_id: UUID, *, param: str) -> AuditEvent:
    found = AuditEvent.objects.filter(organization_id=organization_id, pk=event_id).first()
    if found is None:
        raise InvalidRequest(f"{param} names no event of this audit log.", param=param)
    return found


def _older_than(place: AuditEvent) -> Q:
    return Q(created_at__lt=place.created_at) | Q(created_at=place.created_at, id__lt=place.id)
