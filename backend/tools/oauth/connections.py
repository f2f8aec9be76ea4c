"""Who is connected to a tool server, as whom, and with which tokens.

A connection is found by its server and the person whose chat calls (or by the server alone, where a
manager signs in for all), so nobody's tokens are sent for another, and none for another
organization: servers are an organization's.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from backend.accounts.principal import Principal
from backend.accounts.roles import require_manager
from backend.audit.actions import Action
from backend.audit.services import record
from backend.platform.encryption import Unreadable
from backend.platform.errors import InvalidRequest, NotFound
from backend.tools.models import ServerAuth, ToolServer
from backend.tools.oauth.clients import Client, client_forget, client_of
from backend.tools.oauth.exchange import Granted
from backend.tools.oauth_models import ConnectionState, ToolConnection
from backend.tools.secrets import tokens_decrypt, tokens_encrypt


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a connection has, as it was read.

    Attributes:
        stored: as it is at rest; whoever replaces it names it, so that no newer is lost.
    """

    connection_id: UUID
    access: str
    refresh: str
    expires_at: datetime | None
    client: Client
    stored: str


def server_for(principal: Principal, server_id: UUID) -> ToolServer:
    """A server at which the caller may sign in: each person, or managers for all.

    Raises:
        NotFound, PermissionDenied. InvalidRequest: it has no sign-in.
    """
    found = ToolServer.objects.filter(
        organization_id=principal.organization_id, pk=server_id, is_enabled=True
    ).first()
    if found is None:
        raise NotFound(f"There is no tool server {server_id}.")
    if found.auth == ServerAuth.ORGANIZATION:
        require_manager(principal)
    if not found.has_sign_in:
        raise InvalidRequest("Nobody signs in at this tool server.", code="tool_without_sign_in")
    return found


def connection_of(server: ToolServer, user_id: UUID | None) -> ToolConnection | None:
    """The one that calls of this person's chats use."""
    if not server.has_sign_in:
        return None
    rows = ToolConnection.objects.filter(server=server, organization_id=server.organization_id)
    rows = rows.select_related("connected_by")
    if server.auth == ServerAuth.ORGANIZATION:
        return rows.filter(user=None).first()
    return rows.filter(user_id=user_id).first() if user_id is not None else None


@transaction.atomic
def connection_save(
    *, principal: Principal, server: ToolServer, client: Client, granted: Granted
) -> ToolConnection:
    """The sign-in has succeeded. Raises NotFound: the server is gone."""
    row = _row(principal, server)
    row.state, row.error = ConnectionState.CONNECTED, ""
    row.encrypted_tokens = _encrypted(row, granted)
    row.expires_at, row.scope = granted.expires_at, granted.scope
    row.client_id, row.account = client.client_id, granted.account
    row.connected_by_id, row.connected_at = principal.user_id, timezone.now()
    row.save()
    _note(Action.TOOL_CONNECTED, principal, server)
    return row


@transaction.atomic
def connection_refuse(*, principal: Principal, server: ToolServer, error: str) -> None:
    """The sign-in was refused. What was connected before stays so."""
    row = _row(principal, server)
    if row.state != ConnectionState.CONNECTED:
        row.state = ConnectionState.REFUSED
        row.error = error[:300]
        row.save()
    _note(Action.TOOL_REFUSED, principal, server)


@transaction.atomic
def connection_delete(*, principal: Principal, server: ToolServer) -> Tokens | None:
    """What its tokens were, to be revoked; None where there were none."""
    row = connection_of(server, principal.user_id)
    if row is None:
        return None
    tokens = _read(row)
    row.delete()
    _note(Action.TOOL_DISCONNECTED, principal, server)
    return tokens


def connections_delete_of_member(*, organization_id: UUID, user_id: UUID) -> None:
    """Nobody who has left calls tools of an organization."""
    ToolConnection.objects.filter(organization_id=organization_id, user_id=user_id).delete()


def tokens_get(connection_id: UUID) -> Tokens | None:
    """None where it is not connected."""
    rows = ToolConnection.objects.select_related("server")
    row = rows.filter(pk=connection_id, state=ConnectionState.CONNECTED).first()
    return _read(row) if row is not None else None


def tokens_replace(tokens: Tokens, granted: Granted) -> bool:
    """Keep what refreshing gave; False where others have come between."""
    row = ToolConnection.objects.filter(pk=tokens.connection_id).first()
    if row is None:
        return False
    kept = Granted(
        granted.access,
        granted.refresh or tokens.refresh,
        granted.expires_at,
        granted.scope or row.scope,
        row.account,
    )
    changed = ToolConnection.objects.filter(
        pk=tokens.connection_id, encrypted_tokens=tokens.stored
    ).update(encrypted_tokens=_encrypted(row, kept), expires_at=kept.expires_at, scope=kept.scope)
    return bool(changed)


def tokens_expire(tokens: Tokens, *, error: str, client_is_unknown: bool = False) -> None:
    """They are worth nothing any more; their person signs in again."""
    row = (
        ToolConnection.objects.filter(pk=tokens.connection_id, encrypted_tokens=tokens.stored)
        .select_related("server")
        .first()
    )
    if row is None:
        return
    if client_is_unknown:
        client_forget(row.server, tokens.client.client_id)
    row.state, row.error = ConnectionState.EXPIRED, error[:300]
    row.encrypted_tokens, row.expires_at = "", None
    row.save(update_fields=["state", "error", "encrypted_tokens", "expires_at"])


def _row(principal: Principal, server: ToolServer) -> ToolConnection:
    """Locked; a new one where there is none. Raises NotFound."""
    if not ToolServer.objects.select_for_update().filter(pk=server.pk).exists():
        raise NotFound(f"There is no tool server {server.pk}.")
    own = None if server.auth == ServerAuth.ORGANIZATION else principal.user_id
    rows = ToolConnection.objects.select_for_update(of=("self",)).filter(server=server)
    found = rows.filter(user=None) if own is None else rows.filter(user_id=own)
    return found.first() or ToolConnection(
        server=server, organization_id=server.organization_id, user_id=own
    )


def _read(row: ToolConnection) -> Tokens | None:
    """None where there is nothing to be read, or it was given to a client that we are no more."""
    client = client_of(row.server)
    if not row.encrypted_tokens or client is None or client.client_id != row.client_id:
        return None
    try:
        tokens = json.loads(
            tokens_decrypt(
                row.encrypted_tokens,
                organization_id=row.organization_id,
                connection_id=row.pk,
            )
        )
    except Unreadable:
        return None
    return Tokens(
        connection_id=row.pk,
        access=tokens["access"],
        refresh=tokens["refresh"],
        expires_at=row.expires_at,
        client=client,
        stored=row.encrypted_tokens,
    )


def _encrypted(row: ToolConnection, granted: Granted) -> str:
    tokens = json.dumps({"access": granted.access, "refresh": granted.refresh})
    return tokens_encrypt(tokens, organization_id=row.organization_id, connection_id=row.pk)


def _note(action: Action, principal: Principal, server: ToolServer) -> None:
    record(
        action,
        organization_id=principal.organization_id,
        actor=principal,
        target=("tool_server", server.pk),
        details={"name": server.name, "for": server.auth},
    )
