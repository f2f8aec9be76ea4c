"""Request and answer of a logged request at rest: encrypted for their organization and row."""

from dataclasses import replace
from typing import Any, Protocol
from uuid import UUID

import orjson

from backend.platform.encryption import Unreadable, decrypt, encrypt, version_of
from backend.platform.keys import Purpose
from backend.platform.reencryption import encrypted_column


class Logged(Protocol):
    """A row of `RequestLog`."""

    pk: Any
    organization_id: UUID
    ciphertext: str


def content_encrypt(content: dict[str, Any], *, organization_id: UUID, log_id: UUID) -> str:
    """`content` is JSON: `request` and `answer`."""
    text = orjson.dumps(content).decode()
    return encrypt(text, purpose=Purpose.REQUEST_LOG, context=(organization_id, log_id))


def content_of(row: Logged) -> dict[str, Any] | None:
    """None where nothing is kept. Raises Unreadable."""
    if not row.ciphertext:
        return None
    place = (row.organization_id, row.pk)
    content: dict[str, Any] = orjson.loads(
        decrypt(row.ciphertext, purpose=Purpose.REQUEST_LOG, context=place)
    )
    return content


def content_if_readable(row: Logged) -> dict[str, Any] | None:
    """None too where its key version was dropped."""
    try:
        return content_of(row)
    except Unreadable:
        return None


_COLUMN = encrypted_column(
    label="logged requests",
    model="api.RequestLog",
    field="ciphertext",
    purpose=Purpose.REQUEST_LOG,
    context=("organization_id", "pk"),
)
# Of many requests no content is kept.
COLUMN = replace(
    _COLUMN,
    version=lambda stored: version_of(stored) if stored else None,
    renewed=lambda row: _COLUMN.renewed(row) if row.ciphertext else "",
)
