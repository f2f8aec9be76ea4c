"""What opens tool servers, at rest: each encrypted for its organization, row and use."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from backend.platform.encryption import decrypt, encrypt, version_of
from backend.platform.keys import Purpose
from backend.platform.reencryption import KeyedColumn, encrypted_column


def token_encrypt(token: str, *, organization_id: UUID, server_id: UUID) -> str:
    """A bearer token of a server."""
    return encrypt(token, purpose=Purpose.TOOL_SECRET, context=(organization_id, server_id))


def token_decrypt(stored: str, *, organization_id: UUID, server_id: UUID) -> str:
    """The token again. Raises Unreadable."""
    return decrypt(stored, purpose=Purpose.TOOL_SECRET, context=(organization_id, server_id))


def client_secret_encrypt(secret: str, *, organization_id: UUID, server_id: UUID) -> str:
    """Of our client at a server's authorization server."""
    return encrypt(secret, purpose=Purpose.TOOL_CLIENT, context=(organization_id, server_id))


def client_secret_decrypt(stored: str, *, organization_id: UUID, server_id: UUID) -> str:
    """The secret again. Raises Unreadable."""
    return decrypt(stored, purpose=Purpose.TOOL_CLIENT, context=(organization_id, server_id))


def tokens_encrypt(tokens: str, *, organization_id: UUID, connection_id: UUID) -> str:
    """Of a connection."""
    return encrypt(tokens, purpose=Purpose.TOOL_TOKENS, context=(organization_id, connection_id))


def tokens_decrypt(stored: str, *, organization_id: UUID, connection_id: UUID) -> str:
    """The tokens again. Raises Unreadable."""
    return decrypt(stored, purpose=Purpose.TOOL_TOKENS, context=(organization_id, connection_id))


def _where_there_is_one(column: KeyedColumn) -> KeyedColumn:
    """An empty value has nothing encrypted."""

    def renewed(row: Any) -> Any:
        return column.renewed(row) if getattr(row, column.field) else ""

    return replace(
        column,
        version=lambda stored: version_of(stored) if stored else None,
        renewed=renewed,
    )


COLUMN = _where_there_is_one(
    encrypted_column(
        label="tokens of tool servers",
        model="tools.ToolServer",
        field="encrypted_token",
        purpose=Purpose.TOOL_SECRET,
        context=("organization_id", "id"),
    )
)
CLIENTS = _where_there_is_one(
    encrypted_column(
        label="client secrets at authorization servers of tools",
        model="tools.OAuthClient",
        field="encrypted_secret",
        purpose=Purpose.TOOL_CLIENT,
        context=("organization_id", "server_id"),
    )
)
CONNECTIONS = _where_there_is_one(
    encrypted_column(
        label="tokens of people at tool servers",
        model="tools.ToolConnection",
        field="encrypted_tokens",
        purpose=Purpose.TOOL_TOKENS,
        context=("organization_id", "id"),
    )
)
