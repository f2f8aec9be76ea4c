"""Client secrets of identity providers at rest: each encrypted for its organization and row."""

from uuid import UUID

from backend.platform.encryption import decrypt, encrypt
from backend.platform.keys import Purpose
from backend.platform.reencryption import encrypted_column


def secret_encrypt(secret: str, *, organization_id: UUID, connection_id: UUID) -> str:
    return encrypt(secret, purpose=Purpose.SSO_SECRET, context=(organization_id, connection_id))


def secret_decrypt(stored: str, *, organization_id: UUID, connection_id: UUID) -> str:
    """The secret again. Raises Unreadable."""
    return decrypt(stored, purpose=Purpose.SSO_SECRET, context=(organization_id, connection_id))


COLUMN = encrypted_column(
    label="client secrets of identity providers",
    model="enterprise.OIDCSettings",
    field="encrypted_secret",
    purpose=Purpose.SSO_SECRET,
    context=("connection.organization_id", "connection_id"),
)
