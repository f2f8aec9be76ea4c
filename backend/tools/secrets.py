"""Bearer tokens of MCP servers at rest: each encrypted for its organization and row."""

from dataclasses import replace
from uuid import UUID

from backend.platform.encryption import decrypt, encrypt, version_of
from backend.platform.keys import Purpose
from backend.platform.reencryption import encrypted_column


def token_encrypt(token: str, *, organization_id: UUID, server_id: UUID) -> str:
    return encrypt(token, purpose=Purpose.TOOL_SECRET, context=(organization_id, server_id))


def token_decrypt(stored: str, *, organization_id: UUID, server_id: UUID) -> str:
    """The token again. Raises Unreadable."""
    return decrypt(stored, purpose=Purpose.TOOL_SECRET, context=(organization_id, server_id))


_COLUMN = encrypted_column(
    label="tokens of tool servers",
    model="tools.ToolServer",
    field="encrypted_token",
    purpose=Purpose.TOOL_SECRET,
    context=("organization_id", "id"),
)
# A server without a token has nothing encrypted.
COLUMN = replace(
    _COLUMN,
    version=lambda stored: version_of(stored) if stored else None,
    renewed=lambda server: _COLUMN.renewed(server) if server.encrypted_token else "",
)
