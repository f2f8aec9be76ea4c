"""A batch's file as rows: read a line at a time, stored a thousand at a time.

What is checked here fails the whole batch, as OpenAI's does: lines that are no requests, ids that
are not unique, several models. What a line asks for is checked when it is answered.
"""

from collections.abc import Iterator
from typing import Any, BinaryIO, cast
from uuid import UUID

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Count
from django.utils import timezone

from backend.api.batches.finish import batch_fail
from backend.api.models import Batch, BatchLine, BatchState, StoredFile
from backend.api.parsing import loads
from backend.generation.pools.config import load_pools
from backend.platform.errors import InvalidRequest, ModelNotFound

MAX_PROBLEMS = 50
_CHUNK = 1_000
_KEYS = {"custom_id", "method", "url", "body"}
_MAX_ID = 512

Problem = dict[str, Any]


def batch_validate(batch_pk: UUID) -> None:
    """Read the file of a batch whose claim the caller has; it is then `in_progress`, or failed."""
    batch = Batch.objects.select_related("organization__plan").get(pk=batch_pk)
    if batch.state != BatchState.VALIDATING:
        return
    BatchLine.objects.filter(batch=batch).delete()  # of a process that died over it
    problems = _stored(batch)
    if not problems:
        problems = _duplicates(batch)
    if problems:
        batch_fail(batch_pk, problems[:MAX_PROBLEMS])
        return
    with transaction.atomic():
        row = Batch.objects.select_for_update(no_key=True).get(pk=batch_pk)
        row.model, row.total = batch.model, BatchLine.objects.filter(batch=batch).count()
        if row.state == BatchState.VALIDATING:
            row.state, row.in_progress_at = BatchState.IN_PROGRESS, timezone.now()
        row.save(update_fields=["model", "total", "state", "in_progress_at"])


def _stored(batch: Batch) -> list[Problem]:
    """What is wrong with the file; its lines are stored as far as they are read."""
    file = StoredFile.objects.filter(pk=batch.input_file_id, is_ready=True).first()
    if file is None:
        return [_problem("missing_file", "The input file is gone.", param="input_file_id")]
    problems: list[Problem] = []
    rows: list[BatchLine] = []
    count = 0
    with default_storage.open(file.file, "rb") as source:
        for number, line in _lines(cast(BinaryIO, source)):
            if len(problems) >= MAX_PROBLEMS:
                break
            count += 1
            if count > batch.organization.plan.batch_lines:
                most = batch.organization.plan.batch_lines
                message = f"Your plan allows {most:,} requests in a batch."
                return [*problems, _problem("too_many_requests", message, number)]
            try:
                rows.append(_row(batch, number, line))
            except InvalidRequest as error:
                code = error.code or "invalid_line"
                problems.append(_problem(code, error.message, number, error.param))
            if len(rows) >= _CHUNK:
                BatchLine.objects.bulk_create(rows)
                rows.clear()
    BatchLine.objects.bulk_create(rows)
    if not count:
        problems.append(_problem("empty_file", "The input file holds no request."))
    return problems


def _lines(source: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Each line that is not blank, with its number; of one that is too long, its beginning."""
    longest = int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    number = 0
    while line := source.readline(longest + 2):
        number += 1
        is_whole = line.endswith(b"\n")
        rest = line
        while not is_whole and (rest := source.readline(longest)):
            is_whole = rest.endswith(b"\n")
        if line.strip():
            yield number, line


def _row(batch: Batch, number: int, line: bytes) -> BatchLine:
    """Raises InvalidRequest: it is no request of this batch."""
    longest = int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    if len(line.rstrip(b"\n")) > longest:
        raise InvalidRequest(f"The line is longer than {longest:,} bytes.", code="line_too_long")
    asked = loads(line)
    if not isinstance(asked, dict) or set(asked) != _KEYS:
        raise InvalidRequest(
            "A line is an object with custom_id, method, url and body, and nothing else.",
            code="invalid_line",
        )
    custom_id, body = asked["custom_id"], asked["body"]
    if not isinstance(custom_id, str) or not 1 <= len(custom_id) <= _MAX_ID:
        raise InvalidRequest(f"custom_id has 1 to {_MAX_ID} characters.", param="custom_id")
    if asked["method"] != "POST":
        raise InvalidRequest("method must be POST.", param="method", code="invalid_method")
    if asked["url"] != batch.endpoint:
        raise InvalidRequest(
            f"url must be the batch's endpoint, {batch.endpoint}.", param="url", code="invalid_url"
        )
    if not isinstance(body, dict):
        raise InvalidRequest("body must be an object.", param="body")
    _note_model(batch, body)
    # The client's own text: what its numbers say is kept digit for digit.
    text = line.decode().strip()
    return BatchLine(batch=batch, number=number, custom_id=custom_id, body=text)


def _note_model(batch: Batch, body: dict[str, Any]) -> None:
    model = body.get("model")
    if batch.endpoint == "/v1/moderations" and model is None:
        return
    if not isinstance(model, str):
        raise InvalidRequest("body.model must be the name of a model.", param="body.model")
    if batch.model == "":
        if batch.endpoint != "/v1/moderations":
            try:
                load_pools().find(model)
            except ModelNotFound as error:
                raise InvalidRequest(
                    error.message, param="body.model", code="model_not_found"
                ) from error
        batch.model = model
    elif batch.model != model:
        raise InvalidRequest(
            f"All requests of a batch name one model; the first named '{batch.model}'.",
            param="body.model",
            code="mismatched_model",
        )


def _duplicates(batch: Batch) -> list[Problem]:
    repeated = (
        BatchLine.objects.filter(batch=batch)
        .values("custom_id")
        .annotate(times=Count("pk"))
        .filter(times__gt=1)[:MAX_PROBLEMS]
    )
    return [
        _problem(
            "duplicate_custom_id",
            f"The custom_id '{row['custom_id'][:100]}' is there {row['times']} times.",
            param="custom_id",
        )
        for row in repeated
    ]


def _problem(code: str, message: str, line: int | None = None, param: str | None = None) -> Problem:
    return {"code": code, "message": message, "line": line, "param": param}
