"""Files: the row first, then the bytes, then the row says that they are there."""

import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from typing import Any, BinaryIO, TypeVar
from uuid import UUID

import structlog
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Exists, Model, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from backend.accounts.data_policy import retention_ends
from backend.accounts.legal_hold import refuse_held, without_held
from backend.accounts.models import Organization
from backend.accounts.principal import Principal
from backend.api.files.objects import file_object, id_of, not_found
from backend.api.files.paging import Order, no_such_page, rows_page
from backend.api.models import (
    OPEN_BATCH_STATES,
    Batch,
    FilePurpose,
    StoredFile,
    Upload,
    UploadPart,
    UploadState,
)
from backend.platform.errors import InsufficientQuota, InvalidRequest, NotFound
from backend.platform.pages import delete_in_pages, in_pages

log = structlog.get_logger(__name__)

HALF_WRITTEN = timedelta(hours=1)
"""After this, what is not complete is taken for left behind."""
UNFETCHED = timedelta(hours=1)
"""However short the retention is, a file is there so long: to be read by a batch, or fetched."""
_NAME_LIMIT = 255

M = TypeVar("M", bound=Model)


def files_of(principal: Principal) -> QuerySet[StoredFile]:
    """Every query for files starts here: the user's, complete, not expired."""
    return StoredFile.objects.filter(
        organization_id=principal.organization_id, user_id=principal.user_id, is_ready=True
    ).exclude(expires_at__lte=timezone.now())


def file_get(*, principal: Principal, text_id: str) -> StoredFile:
    """Raises NotFound."""
    row = files_of(principal).filter(pk=id_of(text_id, "file-", "File")).first()
    if row is None:
        raise not_found(text_id, "File")
    return row


def files_list(
    *, principal: Principal, purpose: str | None, limit: int, order: Order, after: str | None
) -> dict[str, Any]:
    """Raises InvalidRequest: there is no file `after`."""
    rows = files_of(principal)
    if purpose is not None:
        rows = rows.filter(purpose=purpose)
    try:
        last = None if after is None else file_get(principal=principal, text_id=after)
    except NotFound:
        raise no_such_page(str(after)) from None
    return rows_page(rows, file_object, limit=limit, after=last, order=order)


def file_store(
    *,
    organization_id: UUID,
    user_id: UUID,
    project_id: UUID | None,
    purpose: FilePurpose,
    filename: str,
    source: BinaryIO,
    size: int,
    expires_at: datetime | None = None,
    within_quota: bool = True,
) -> StoredFile:
    """Store `size` bytes of `source`, read a chunk at a time.

    Args:
        within_quota: whether the organization's plan bounds it; results are stored in any case.
    Raises:
        InsufficientQuota: the organization stores too much.
    """
    row = StoredFile(
        organization_id=organization_id,
        user_id=user_id,
        project_id=project_id,
        purpose=purpose,
        filename=clean_name(filename),
        size=size,
        expires_at=expires_at,
    )
    row.file = f"files/{row.pk.hex[:2]}/{row.pk.hex}"
    with transaction.atomic():
        if within_quota:
            room_check(organization_id, size)
        row.save(force_insert=True)
    with _removed_on_failure(row):
        default_storage.save(row.file, File(source))
        row.is_ready = True
        row.save(update_fields=["is_ready"])
    return row


def file_delete(*, principal: Principal, text_id: str) -> None:
    """Its bytes are gone at once. Raises NotFound, LegallyHeld."""
    row = file_get(principal=principal, text_id=text_id)
    refuse_held(organization_id=principal.organization_id, user_id=principal.user_id)
    files_remove([row])


def files_remove(rows: Iterable[StoredFile]) -> int:
    """Delete bytes, then rows: what dies in between is found again."""
    count = 0
    for row in rows:
        default_storage.delete(row.file)
        row.delete()
        count += 1
    return count


def purge_files() -> int:
    """Delete what has expired, what was left half-written or half-uploaded, and what its
    organization or project keeps no longer; nothing that a legal hold keeps. How many files."""
    now = timezone.now()
    before = now - HALF_WRITTEN
    parts = UploadPart.objects.filter(upload__expires_at__lt=now)
    for part in in_pages(
        without_held(parts, organization="upload__organization_id", user="upload__user_id")
    ):
        default_storage.delete(part.file)
        part.delete()
    uploads = Upload.objects.filter(parts=None)
    old = uploads.filter(expires_at__lt=now - timedelta(days=1))
    delete_in_pages(_not_held(old), by="expires_at")
    left = StoredFile.objects.filter(is_ready=False, created_at__lt=before)
    due = [StoredFile.objects.filter(expires_at__lte=now), left]
    for owner, kept_since in retention_ends(now=now, at_least=UNFETCHED):
        late = uploads.filter(**owner, created_at__lte=kept_since, expires_at__lt=now)
        delete_in_pages(_not_held(late), by="expires_at")
        due.append(_not_being_read(StoredFile.objects.filter(**owner, created_at__lte=kept_since)))
    return sum(files_remove(in_pages(_not_held(rows))) for rows in due)


def _not_being_read(rows: QuerySet[StoredFile]) -> QuerySet[StoredFile]:
    """Without the inputs of batches that are under way."""
    reading = Batch.objects.filter(input_file_id=OuterRef("pk"), state__in=OPEN_BATCH_STATES)
    return rows.filter(~Exists(reading))


def _not_held(rows: QuerySet[M]) -> QuerySet[M]:
    return without_held(rows, organization="organization_id", user="user_id")


def room_check(organization_id: UUID, size: int) -> None:
    """Whether the organization may store `size` bytes more, beside its files and what its uploads
    have announced. Call it in the transaction that stores or announces them: it holds a lock.

    Raises:
        InsufficientQuota: with what it stores and may store.
    """
    organization = (
        Organization.objects.select_for_update(no_key=True, of=("self",))
        .select_related("plan")
        .get(pk=organization_id)
    )
    files = StoredFile.objects.filter(organization_id=organization_id)
    uploads = uploads_with_room(organization_id)
    used = sum(rows.aggregate(all=Sum("size"))["all"] or 0 for rows in (files, uploads))
    allowed = organization.plan.file_bytes
    if used + size > allowed:
        raise InsufficientQuota(
            f"Your organization stores {used:,} bytes of files, open uploads among them, of"
            f" {allowed:,} that its plan allows; these are {size:,} more. Delete some.",
            code="file_storage_exceeded",
        )


def uploads_with_room(organization_id: UUID) -> QuerySet[Upload]:
    """Those that hold the room they announced: the open ones, and late ones until `purge_files` has
    deleted their parts, for one that is being put together may pass its time."""
    parts = Exists(UploadPart.objects.filter(upload=OuterRef("pk")))
    return Upload.objects.filter(
        Q(expires_at__gt=timezone.now()) | parts,
        organization_id=organization_id,
        state=UploadState.PENDING,
    )


def clean_name(filename: str) -> str:
    """The last part of a name, without anything that could break a line or a header."""
    name = PurePosixPath(filename.replace("\\", "/")).name
    name = "".join(c for c in name if unicodedata.category(c)[0] != "C").strip()
    return name[-_NAME_LIMIT:] or "file"


def expiry_of(created: datetime, seconds: int | None) -> datetime | None:
    return None if seconds is None else created + timedelta(seconds=seconds)


def refuse_empty(size: int, param: str = "file") -> None:
    if not size:
        raise InvalidRequest("The file is empty.", param=param)


@contextmanager
def _removed_on_failure(row: StoredFile) -> Iterator[None]:
    try:
        yield
    except BaseException:
        try:
            files_remove([row])
        except Exception as error:  # storage or database away: purge_files finds it
            log.warning("file_left_half_written", file_id=str(row.pk), error=repr(error))
        raise
