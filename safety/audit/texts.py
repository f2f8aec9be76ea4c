"""Retained texts at rest: encrypted for their organization and decision, so that a dump of the
database reads nothing, and a text that is copied to another row is refused."""

from uuid import UUID

from backend.platform.encryption import Unreadable, decrypt, encrypt
from backend.platform.keys import Purpose
from backend.platform.reencryption import encrypted_column


class TextUnreadable(RuntimeError):
    """A stored text was encrypted under a dropped key, belongs elsewhere, or was changed."""


def text_encrypt(text: str, *, organization_id: UUID, decision_id: UUID) -> bytes:
    context = (organization_id, decision_id)
    return encrypt(text, purpose=Purpose.STORED_TEXT, context=context).encode()


def text_decrypt(ciphertext: bytes, *, organization_id: UUID, decision_id: UUID) -> str:
    """The text again. Raises TextUnreadable."""
    try:
        return decrypt(
            bytes(ciphertext).decode("ascii", "replace"),
            purpose=Purpose.STORED_TEXT,
            context=(organization_id, decision_id),
        )
    except Unreadable as error:
        raise TextUnreadable("The stored text cannot be decrypted.") from error


COLUMN = encrypted_column(
    label="retained texts",
    model="audit.StoredText",
    field="ciphertext",
    purpose=Purpose.STORED_TEXT,
    context=("decision.organization_id", "pk"),
)
