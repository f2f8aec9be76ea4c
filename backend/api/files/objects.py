"""Files and uploads as OpenAI shows them, and their ids."""

from datetime import datetime
from typing import Any
from uuid import UUID

from backend.api.models import StoredFile, Upload, UploadPart, UploadState
from backend.platform.errors import NotFound


def id_of(text: str, prefix: str, noun: str) -> UUID:
    """The id behind `prefix`. Raises NotFound: it is none."""
    digits = text.removeprefix(prefix)
    try:
        if digits != text and len(digits) == 32:
            return UUID(hex=digits)
    except ValueError:
        pass
    raise not_found(text, noun)


def not_found(text: str, noun: str) -> NotFound:
    return NotFound(f"{noun} with id '{text[:64]}' not found.")


def file_id(row_id: UUID) -> str:
    return f"file-{row_id.hex}"


def upload_id(row_id: UUID) -> str:
    return f"upload_{row_id.hex}"


def seconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp())


def file_object(row: StoredFile) -> dict[str, Any]:
    return {
        "id": file_id(row.pk),
        "object": "file",
        "bytes": row.size,
        "created_at": seconds(row.created_at),
        "expires_at": seconds(row.expires_at),
        "filename": row.filename,
        "purpose": row.purpose,
        "status": "processed",
        "status_details": None,
    }


def upload_object(row: Upload) -> dict[str, Any]:
    is_whole = row.state == UploadState.COMPLETED and row.file is not None
    return {
        "id": upload_id(row.pk),
        "object": "upload",
        "bytes": row.size,
        "created_at": seconds(row.created_at),
        "expires_at": seconds(row.expires_at),
        "filename": row.filename,
        "purpose": row.purpose,
        "status": row.shown_state,
        "file": file_object(row.file) if is_whole and row.file is not None else None,
    }


def part_object(row: UploadPart) -> dict[str, Any]:
    return {
        "id": f"part_{row.pk.hex}",
        "object": "upload.part",
        "created_at": seconds(row.created_at),
        "upload_id": upload_id(row.upload_id),
    }
