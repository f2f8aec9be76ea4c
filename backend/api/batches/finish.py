"""The end of a batch: its files, written from the rows a few at a time, and its webhook."""

import tempfile
from datetime import timedelta
from typing import Any, BinaryIO, cast
from uuid import UUID

import orjson
from django.db import transaction
from django.utils import timezone

from backend.api.batches.lines import closed_line, has_open_lines
from backend.api.files.rows import file_store, files_remove
from backend.api.models import Batch, BatchLine, BatchState, FilePurpose, StoredFile
from backend.platform.pages import in_pages
from billing.webhooks.events import batch_event

OUTPUT_KEPT = timedelta(days=30)
_CHUNK = 200


def batch_fail(batch_pk: UUID, problems: list[dict[str, Any]]) -> None:
    """End a batch whose file is no batch."""
    BatchLine.objects.filter(batch_id=batch_pk).delete()
    with transaction.atomic():
        row = Batch.objects.select_for_update(no_key=True).get(pk=batch_pk)
        if row.is_open:
            row.problems = problems
            _end(row, BatchState.FAILED)


def batch_finish(batch_pk: UUID) -> None:
    """Write what became of a batch whose claim the caller has, unless lines are still open."""
    row = Batch.objects.get(pk=batch_pk)
    if not row.is_open or has_open_lines(row):
        return
    if row.state == BatchState.IN_PROGRESS:
        Batch.objects.filter(pk=batch_pk, state=BatchState.IN_PROGRESS).update(
            state=BatchState.FINALIZING, finalizing_at=timezone.now()
        )
    output, completed = _written(row, is_error=False)
    errors, failed = _written(row, is_error=True)
    with transaction.atomic():
        row = Batch.objects.select_for_update(no_key=True).get(pk=batch_pk)
        if not row.is_open:  # another process has done it meanwhile
            files_remove(file for file in (output, errors) if file is not None)
            return
        row.completed, row.failed = completed, failed
        row.output_file_id = output.pk if output is not None else None
        row.error_file_id = errors.pk if errors is not None else None
        _end(row, BatchState(row.outcome or BatchState.COMPLETED))
    BatchLine.objects.filter(batch_id=batch_pk).delete()


def _end(row: Batch, state: BatchState) -> None:
    row.state, row.ended_at, row.claimed_until = state, timezone.now(), None
    row.save()
    batch_event(row.organization_id, batch_id=f"batch_{row.pk.hex}", state=state)


def _written(row: Batch, *, is_error: bool) -> tuple[StoredFile | None, int]:
    """The file of the lines with or without an answer, and their number; None for none."""
    lines = BatchLine.objects.filter(batch=row, is_done=True, is_error=is_error)
    count = 0
    with tempfile.TemporaryFile() as whole:
        for line in in_pages(lines, by="number", size=_CHUNK):
            whole.write(orjson.dumps(closed_line(line)) + b"\n")
            count += 1
        if not count:
            return None, 0
        size = whole.tell()
        whole.seek(0)
        now = timezone.now()
        kept = row.output_expires_after
        file = file_store(
            organization_id=row.organization_id,
            user_id=row.user_id,
            project_id=row.project_id,
            purpose=FilePurpose.BATCH_OUTPUT,
            filename=f"batch_{row.pk.hex}_{'error' if is_error else 'output'}.jsonl",
            source=cast(BinaryIO, whole),
            size=size,
            expires_at=now + (OUTPUT_KEPT if kept is None else timedelta(seconds=kept)),
            within_quota=False,
        )
    return file, count
