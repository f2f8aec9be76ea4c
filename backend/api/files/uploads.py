"""A file that comes in parts: opened, its parts sent in any order, put together or given up."""

import hashlib
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, BinaryIO, cast

from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone

from backend.accounts.legal_hold import refuse_held
from backend.accounts.principal import Principal
from backend.api.files.objects import id_of, not_found, part_object
from backend.api.files.rows import clean_name, expiry_of, file_store, room_check, uploads_with_room
from backend.api.models import FilePurpose, StoredFile, Upload, UploadPart, UploadState
from backend.platform.errors import Conflict, InsufficientQuota, InvalidRequest

LIFETIME = timedelta(hours=1)
MAX_PARTS = 10_000
MAX_OPEN = 100
"""Uploads of an organization at a time."""
_CHUNK = 1 << 20


def upload_create(
    *, principal: Principal, filename: str, size: int, content_type: str, expires_after: int | None
) -> Upload:
    """Open an upload, which holds room for its `size` bytes until it ends.

    Raises:
        InsufficientQuota: the plan has no room for them, or too many uploads are open.
    """
    now = timezone.now()
    with transaction.atomic():
        room_check(principal.organization_id, size)
        if uploads_with_room(principal.organization_id).count() >= MAX_OPEN:
            raise InsufficientQuota(
                f"Your organization has {MAX_OPEN} open uploads. Complete or cancel one.",
                code="too_many_uploads",
            )
        return Upload.objects.create(
            organization_id=principal.organization_id,
            user_id=principal.user_id,
            project_id=principal.project_id,
            purpose=FilePurpose.BATCH,
            filename=clean_name(filename),
            size=size,
            content_type=content_type,
            file_expires_after=expires_after,
            expires_at=now + LIFETIME,
        )


def upload_get(*, principal: Principal, text_id: str, lock: bool = False) -> Upload:
    """Raises NotFound."""
    rows = Upload.objects.select_related("file").filter(
        organization_id=principal.organization_id, user_id=principal.user_id
    )
    if lock:
        rows = rows.select_for_update(no_key=True, of=("self",))
    row = rows.filter(pk=id_of(text_id, "upload_", "Upload")).first()
    if row is None:
        raise not_found(text_id, "Upload")
    return row


def part_add(*, principal: Principal, text_id: str, source: BinaryIO, size: int) -> dict[str, Any]:
    """Store one part.

    Raises:
        NotFound; Conflict: the upload is not open; InvalidRequest: more than was announced.
    """
    with transaction.atomic():
        upload = upload_get(principal=principal, text_id=text_id, lock=True)
        _require_open(upload)
        sizes = list(upload.parts.values_list("size", flat=True))
        if len(sizes) >= MAX_PARTS or sum(sizes) + size > upload.size:
            raise InvalidRequest(
                f"The parts would be larger than the {upload.size:,} bytes announced.",
                param="data",
            )
        part = UploadPart(upload=upload, size=size)
        part.file = f"parts/{part.pk.hex[:2]}/{part.pk.hex}"
        part.save(force_insert=True)
    default_storage.save(part.file, File(source))
    UploadPart.objects.filter(pk=part.pk).update(is_ready=True)
    return part_object(part)


def upload_complete(
    *, principal: Principal, text_id: str, part_ids: Sequence[str], md5: str | None
) -> Upload:
    """Put the named parts together, in that order.

    Raises:
        NotFound; Conflict: it is not open; InvalidRequest: a part is not its own, the parts are
            not of the announced size, or their MD5 is another.
    """
    upload = upload_get(principal=principal, text_id=text_id)
    _require_open(upload)
    parts = _named(upload, part_ids)
    if sum(part.size for part in parts) != upload.size:
        raise InvalidRequest(
            f"The parts have {sum(part.size for part in parts):,} bytes; {upload.size:,} were"
            " announced.",
            param="part_ids",
        )
    with tempfile.TemporaryFile() as whole:
        digest = _join(parts, cast(BinaryIO, whole))
        if md5 is not None and digest != md5.lower():
            raise InvalidRequest("The MD5 of the parts is another one.", param="md5")
        whole.seek(0)
        stored = file_store(
            organization_id=upload.organization_id,
            user_id=upload.user_id,
            project_id=upload.project_id,
            purpose=FilePurpose(upload.purpose),
            filename=upload.filename,
            source=cast(BinaryIO, whole),
            size=upload.size,
            expires_at=expiry_of(timezone.now(), upload.file_expires_after),
            within_quota=False,  # the upload holds its room until it ends
        )
    if not _end(upload, UploadState.COMPLETED, stored):
        _discard(stored)
        raise _closed(upload_get(principal=principal, text_id=text_id))
    return upload_get(principal=principal, text_id=text_id)


def upload_cancel(*, principal: Principal, text_id: str) -> Upload:
    """Give it up; its parts are gone at once. Raises NotFound, Conflict, LegallyHeld."""
    upload = upload_get(principal=principal, text_id=text_id)
    _require_open(upload)
    refuse_held(organization_id=principal.organization_id, user_id=principal.user_id)
    if not _end(upload, UploadState.CANCELLED, None):
        raise _closed(upload_get(principal=principal, text_id=text_id))
    return upload_get(principal=principal, text_id=text_id)


def _join(parts: Sequence[UploadPart], whole: BinaryIO) -> str:
    """Write the bytes of all parts into `whole`, a chunk at a time; their MD5."""
    digest = hashlib.md5(usedforsecurity=False)
    for part in parts:
        with default_storage.open(part.file, "rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
                whole.write(chunk)
    return digest.hexdigest()


def _named(upload: Upload, part_ids: Sequence[str]) -> list[UploadPart]:
    known = {f"part_{part.pk.hex}": part for part in upload.parts.filter(is_ready=True)}
    for place, name in enumerate(part_ids):
        if name not in known:
            raise InvalidRequest(
                f"The upload has no part '{name[:64]}'.", param=f"part_ids[{place}]"
            )
    if len(set(part_ids)) != len(part_ids):
        raise InvalidRequest("A part is named twice.", param="part_ids")
    return [known[name] for name in part_ids]


def _end(upload: Upload, state: UploadState, file: StoredFile | None) -> bool:
    """Whether it was still open. Its parts are deleted."""
    ended = Upload.objects.filter(pk=upload.pk, state=UploadState.PENDING).update(
        state=state, file=file
    )
    if ended:
        for part in upload.parts.all():
            default_storage.delete(part.file)
            part.delete()
    return bool(ended)


def _discard(stored: StoredFile) -> None:
    default_storage.delete(stored.file)
    stored.delete()


def _require_open(upload: Upload) -> None:
    if upload.shown_state != UploadState.PENDING:
        raise _closed(upload)


def _closed(upload: Upload) -> Conflict:
    return Conflict(f"The upload is {upload.shown_state}.", code="upload_not_pending")
