"""Lines of batches: whose turn it is, who answers, and what became of them.

A process claims lines for a lease and renews while it answers them. What lapses is claimed by
another, which finds the generation by its id: begun lines are not begun again, ended ones are read.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

import orjson
from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from backend.api.models import Batch, BatchLine, BatchState
from backend.generation.models import StoredAnswer
from backend.platform.ids import derived_id

_CLOSED: dict[str, tuple[str, str]] = {
    BatchState.CANCELLED: ("batch_cancelled", "The batch was cancelled."),
    BatchState.EXPIRED: (
        "batch_expired",
        "This request could not be executed before the completion window expired.",
    ),
    BatchState.FAILED: ("access_ended", "The API key that made this batch works no more."),
}


def lease() -> timedelta:
    """How long a line is its process's without a renewal."""
    return timedelta(seconds=3 * settings.GENERATION_LEASE_S)


def generation_id_of(line: BatchLine) -> UUID:
    """The same in every process. It has the time of the batch, for the ledger's partition."""
    return derived_id(line.batch_id, f"{line.number}:{line.attempt}")


def request_id_of(line: BatchLine) -> str:
    return f"batch_req_{uuid5(line.batch_id, str(line.number)).hex}"


@transaction.atomic
def lines_claim(batch: Batch, *, limit: int) -> list[BatchLine]:
    """The next lines that nobody answers, the caller's for a lease. Of a batch that is about to
    end, those that another process has begun."""
    now = timezone.now()
    free = Q(claimed_until__lte=now)
    if not batch.outcome:
        free |= Q(claimed_until=None)
    rows = list(
        BatchLine.objects.select_for_update(skip_locked=True)
        .filter(free, batch=batch, is_done=False)
        .order_by("number")[:limit]
    )
    if rows:
        BatchLine.objects.filter(pk__in=[row.pk for row in rows]).update(
            claimed_until=now + lease()
        )
    return rows


def lines_renew(pks: Sequence[int]) -> None:
    """They are still being answered."""
    BatchLine.objects.filter(pk__in=pks, is_done=False).update(
        claimed_until=timezone.now() + lease()
    )


def line_hold(line: BatchLine) -> bool:
    """Lock a line until the transaction ends, where it is as the caller claimed it.

    A process that stalled may have what another has claimed since. What would be billed, or begun
    anew under another id, does so under this lock: never both.

    Returns:
        False where it is answered, or at another attempt.
    """
    claimed = BatchLine.objects.filter(pk=line.pk, attempt=line.attempt, is_done=False)
    return bool(claimed.select_for_update(no_key=True).values_list("pk"))


def line_answer(
    line: BatchLine, *, status: int, body: dict[str, Any], generation_id: UUID | None = None
) -> None:
    """Store what a line was answered with. The first answer counts.

    Args:
        generation_id: whose stored text is not needed any more.
    """
    said = {
        "id": request_id_of(line),
        "custom_id": line.custom_id,
        "response": {"status_code": status, "request_id": request_id_of(line), "body": body},
        "error": None,
    }
    _done(line, said, is_error=status >= 400)
    if generation_id is not None:
        StoredAnswer.objects.filter(pk=generation_id).delete()


def line_again(line: BatchLine, *, at: datetime, attempt: int) -> None:
    """Try it again later, as `attempt`."""
    BatchLine.objects.filter(pk=line.pk, is_done=False).update(claimed_until=at, attempt=attempt)


def lines_close(batch: Batch) -> None:
    """End the lines that nobody has begun, as the batch's outcome says."""
    code, message = _CLOSED[batch.outcome]
    error = orjson.dumps({"code": code, "message": message}).decode()
    # What was begun is left to come to its end: it may be billed.
    untouched = BatchLine.objects.filter(batch=batch, is_done=False, claimed_until=None)
    untouched.update(is_done=True, is_error=True, answer=error)


def closed_line(line: BatchLine) -> dict[str, Any]:
    """What a file says of a line: its answer, or the error that it was closed with."""
    said: dict[str, Any] = orjson.loads(line.answer)
    if "custom_id" in said:
        return said
    return {
        "id": request_id_of(line),
        "custom_id": line.custom_id,
        "response": None,
        "error": said,
    }


def has_open_lines(batch: Batch) -> bool:
    return BatchLine.objects.filter(batch=batch, is_done=False).exists()


def _done(line: BatchLine, said: dict[str, Any], *, is_error: bool) -> None:
    BatchLine.objects.filter(pk=line.pk, is_done=False).update(
        is_done=True, is_error=is_error, answer=orjson.dumps(said).decode()
    )
