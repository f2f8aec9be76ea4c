"""Batches: made, read, listed, cancelled; as OpenAI shows them."""

from collections.abc import Collection
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from backend.accounts.data_policy import retention_ends
from backend.accounts.legal_hold import without_held
from backend.accounts.models import Organization
from backend.accounts.principal import Principal
from backend.api.batches.lines import lines_close
from backend.api.files.objects import file_id, id_of, not_found, seconds
from backend.api.files.paging import no_such_page, rows_page
from backend.api.files.rows import UNFETCHED, file_get
from backend.api.models import OPEN_BATCH_STATES, Batch, BatchLine, BatchState, FilePurpose
from backend.api.schemas.files import BatchCreate
from backend.platform.errors import (
    Conflict,
    InsufficientQuota,
    InvalidRequest,
    NotFound,
    ParleyError,
)
from backend.platform.pages import delete_in_pages

WINDOW = timedelta(hours=24)
PREFIX = "batch_"


def batches_of(principal: Principal) -> QuerySet[Batch]:
    """Every query for batches starts here."""
    return Batch.objects.filter(
        organization_id=principal.organization_id, user_id=principal.user_id
    )


def batch_create(*, principal: Principal, body: BatchCreate) -> Batch:
    """Take a batch on; its file is read later.

    Raises:
        NotFound: the file; InvalidRequest: it is no input; InsufficientQuota: the organization
            has as many batches under way as its plan allows.
    """
    source = file_get(principal=principal, text_id=body.input_file_id)
    if source.purpose != FilePurpose.BATCH:
        raise InvalidRequest(
            f"The file's purpose is '{source.purpose}', not 'batch'.", param="input_file_id"
        )
    with transaction.atomic():
        organization = (
            Organization.objects.select_for_update(no_key=True, of=("self",))
            .select_related("plan")
            .get(pk=principal.organization_id)
        )
        under_way = Batch.objects.filter(organization=organization, state__in=OPEN_BATCH_STATES)
        allowed = organization.plan.open_batches
        if under_way.count() >= allowed:
            raise InsufficientQuota(
                f"Your plan allows {allowed} batches at a time. Wait for one to end.",
                code="too_many_batches",
            )
        now, kept = timezone.now(), body.output_expires_after
        return Batch.objects.create(
            organization=organization,
            user_id=principal.user_id,
            project_id=principal.project_id,
            api_key_id=principal.key_id,
            endpoint=body.endpoint,
            input_file_id=source.pk,
            metadata=body.metadata or {},
            output_expires_after=kept.seconds if kept is not None else None,
            created_at=now,
            expires_at=now + WINDOW,
        )


def batch_get(*, principal: Principal, text_id: str) -> Batch:
    """Raises NotFound."""
    row = batches_of(principal).filter(pk=id_of(text_id, PREFIX, "Batch")).first()
    if row is None:
        raise not_found(text_id, "Batch")
    return row


def batch_shown(*, principal: Principal, text_id: str) -> dict[str, Any]:
    """Raises NotFound."""
    return batch_object(_counted(batch_get(principal=principal, text_id=text_id)))


def batches_list(*, principal: Principal, limit: int, after: str | None) -> dict[str, Any]:
    """Newest first, with the counts of seconds ago of those that are being answered. Raises
    InvalidRequest: there is no batch `after`."""
    try:
        last = None if after is None else batch_get(principal=principal, text_id=after)
    except NotFound:
        raise no_such_page(str(after)) from None
    return rows_page(batches_of(principal), batch_object, limit=limit, after=last)


_COMPLETED = Count("pk", filter=Q(is_done=True, is_error=False))
_FAILED = Count("pk", filter=Q(is_done=True, is_error=True))


@transaction.atomic
def batch_cancel(*, principal: Principal, text_id: str) -> dict[str, Any]:
    """Begin nothing more of it; what is being answered comes to its end. Twice is fine.

    Raises:
        NotFound; Conflict: it has ended.
    """
    row = batch_get(principal=principal, text_id=text_id)
    row = Batch.objects.select_for_update(no_key=True).get(pk=row.pk)
    if not row.is_open:
        if row.state == BatchState.CANCELLED:
            return batch_object(_counted(row))
        raise Conflict(f"The batch has ended: it is {row.state}.", code="batch_ended")
    if not row.outcome:
        batch_close(row, BatchState.CANCELLED)
        row.state, row.cancelling_at = BatchState.CANCELLING, timezone.now()
        row.save(update_fields=["state", "cancelling_at"])
    return batch_object(_counted(row))


def batch_close(row: Batch, outcome: BatchState) -> None:
    """Begin nothing more of a batch that the caller has locked; it will end as `outcome`."""
    row.outcome = outcome
    row.save(update_fields=["outcome"])
    lines_close(row)


def batches_count(ids: Collection[UUID]) -> None:
    """Note how many lines of these are answered: lists show that, and count no lines themselves."""
    counted = (
        BatchLine.objects.filter(batch__in=ids)
        .values("batch")
        .annotate(completed=_COMPLETED, failed=_FAILED)
    )
    for counts in counted:
        open_one = Batch.objects.filter(pk=counts["batch"], state__in=OPEN_BATCH_STATES)
        open_one.update(completed=counts["completed"], failed=counts["failed"])


def _counted(row: Batch) -> Batch:
    """The same with the counts of this moment, where it is open."""
    if row.is_open and row.total:
        counts = row.lines.aggregate(completed=_COMPLETED, failed=_FAILED)
        row.completed, row.failed = counts["completed"], counts["failed"]
    return row


def batch_object(row: Batch) -> dict[str, Any]:
    counts = {"total": row.total, "completed": row.completed, "failed": row.failed}

    def ended(state: BatchState) -> int | None:
        return seconds(row.ended_at) if row.state == state else None

    return {
        "id": batch_id(row),
        "object": "batch",
        "endpoint": row.endpoint,
        "model": row.model or None,
        "errors": {"object": "list", "data": row.problems} if row.problems else None,
        "input_file_id": file_id(row.input_file_id),
        "completion_window": "24h",
        "status": row.state,
        "output_file_id": file_id(row.output_file_id) if row.output_file_id else None,
        "error_file_id": file_id(row.error_file_id) if row.error_file_id else None,
        "created_at": seconds(row.created_at),
        "in_progress_at": seconds(row.in_progress_at),
        "expires_at": seconds(row.expires_at),
        "finalizing_at": seconds(row.finalizing_at),
        "completed_at": ended(BatchState.COMPLETED),
        "failed_at": ended(BatchState.FAILED),
        "expired_at": ended(BatchState.EXPIRED),
        "cancelling_at": seconds(row.cancelling_at),
        "cancelled_at": ended(BatchState.CANCELLED),
        "request_counts": counts,
        "metadata": row.metadata,
    }


def batch_id(row: Batch) -> str:
    return f"{PREFIX}{row.pk.hex}"


@transaction.atomic
def batch_expire(batch_pk: Any) -> None:
    """Its day is over: begin nothing more of it."""
    row = Batch.objects.select_for_update(no_key=True).get(pk=batch_pk)
    if row.is_open and not row.outcome:
        batch_close(row, BatchState.EXPIRED)


@transaction.atomic
def batch_access_ended(batch_pk: Any, error: ParleyError) -> None:
    """Its key works no more: begin nothing more of it."""
    row = Batch.objects.select_for_update(no_key=True).get(pk=batch_pk)
    if row.is_open and not row.outcome:
        row.problems = [
            {"code": "access_ended", "message": error.message, "line": None, "param": None}
        ]
        row.save(update_fields=["problems"])
        batch_close(row, BatchState.FAILED)


def purge_batches() -> int:
    """Delete batches that ended before what their organization or project keeps; how many. Without
    a retention they stay, as their files expire."""
    deleted = 0
    for owner, kept_since in retention_ends(now=timezone.now(), at_least=UNFETCHED):
        ended = Batch.objects.filter(**owner, ended_at__lte=kept_since)
        rows = without_held(
            ended.exclude(state__in=OPEN_BATCH_STATES),
            organization="organization_id",
            user="user_id",
        )
        deleted += delete_in_pages(rows)
    return deleted
