"""An organization's MCP servers and its web search: owners and admins set them, and say what each
tool may do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from backend.accounts.principal import Principal
from backend.accounts.roles import require_manager
from backend.audit.actions import Action
from backend.audit.services import record
from backend.platform import outbound
from backend.platform.errors import Conflict, InvalidRequest, NotFound
from backend.tools.definitions import ToolRule, definition_take, rule_set
from backend.tools.models import (
    OAuthClient,
    ServerAuth,
    ServerKind,
    Tool,
    ToolConnection,
    ToolServer,
)
from backend.tools.oauth.clients import client_give
from backend.tools.oauth.connections import connection_of
from backend.tools.secrets import token_decrypt, token_encrypt
from backend.tools.types import (
    SEARCH_WHAT,
    TO_PRIVATE_SWITCH,
    WHAT,
    Address,
    FoundTool,
    ToolFailed,
)
from backend.tools.web.calls import TOOLS
from backend.tools.web.providers import PROVIDERS

MAX_SERVERS = 20
WEB_NAME = "Web"


@dataclass(frozen=True, slots=True)
class GivenClient:
    """Ours at an authorization server, as a manager has made it there."""

    client_id: str
    secret: str


def servers_of(principal: Principal) -> QuerySet[ToolServer]:
    """Every query for servers starts here."""
    return ToolServer.objects.filter(organization_id=principal.organization_id)


def servers_list(*, principal: Principal) -> list[ToolServer]:
    """Raises PermissionDenied."""
    require_manager(principal)
    return list(servers_of(principal).order_by("name").prefetch_related("tools"))


def server_get(*, principal: Principal, server_id: UUID) -> ToolServer:
    """With its tools. Raises PermissionDenied, NotFound."""
    require_manager(principal)
    found = servers_of(principal).filter(pk=server_id).prefetch_related("tools").first()
    if found is None:
        raise NotFound(f"There is no tool server {server_id}.")
    return found


def address_of(server: ToolServer, *, user_id: UUID | None) -> Address | None:
    """Where calls of this person's chats go; None where somebody has to sign in first."""
    if server.has_sign_in:
        connection = connection_of(server, user_id)
        return None if connection is None else Address(server.url, connection_id=connection.pk)
    token = server.encrypted_token and token_decrypt(
        server.encrypted_token, organization_id=server.organization_id, server_id=server.pk
    )
    return Address(server.url, token)


@transaction.atomic
def server_create(
    *,
    principal: Principal,
    name: str,
    url: str,
    token: str = "",
    auth: ServerAuth = ServerAuth.TOKEN,
    client: GivenClient | None = None,
) -> ToolServer:
    """A server without tools yet: look for them next (`tools_save`), which switches it on.

    Args:
        auth: who signs in there; a token goes with nobody.
        client: ours at its authorization server, where that registers none by itself.
    Raises:
        PermissionDenied, InvalidRequest. Conflict: the name is taken, or there are 20.
    """
    require_manager(principal)
    _check(url, token)
    if auth == ServerAuth.TOKEN and client is not None:
        raise InvalidRequest("A client goes with signing in.", param="client_id")
    if auth != ServerAuth.TOKEN and token:
        raise InvalidRequest("A token goes with a server that nobody signs in at.", param="token")
    if servers_of(principal).exclude(kind=ServerKind.PYTHON).count() >= MAX_SERVERS:
        raise Conflict(f"An organization has at most {MAX_SERVERS} tool servers.")
    server = ToolServer(
        organization_id=principal.organization_id,
        name=name,
        url=url,
        auth=auth,
    )
    server.is_enabled = server.has_sign_in  # people sign in before it can answer
    _set_token(server, token)
    _save(server)
    if client is not None:
        client_give(server, client_id=client.client_id, secret=client.secret)
    _note(Action.TOOL_SERVER_CREATED, principal, server)
    return server_get(principal=principal, server_id=server.pk)


@transaction.atomic
def web_create(*, principal: Principal, kind: ServerKind, url: str, token: str) -> ToolServer:
    """The organization's web search, with its tools, which are allowed: to configure it is that.
    It is switched on when its provider has answered (`tools_save`).

    Args:
        url: "" is the provider's own.
    Raises:
        PermissionDenied, InvalidRequest. Conflict: there is one, or a server named "Web".
    """
    require_manager(principal)
    provider = PROVIDERS[kind]
    url = url or provider.url
    _check(url, token, SEARCH_WHAT)
    if provider.needs_key and not token:
        raise InvalidRequest(f"{kind.label} answers with a key only.", param="token")
    server = ToolServer(
        organization_id=principal.organization_id,
        kind=kind,
        name=WEB_NAME,
        url=url,
        is_enabled=False,
    )
    _set_token(server, token)
    _save(server)
    _note(Action.TOOL_SERVER_CREATED, principal, server)
    _store_tools(principal, server, TOOLS, {})
    for tool in TOOLS:
        rule_set(server, ToolRule(tool.name, is_allowed=True, needs_approval=False))
    return server_get(principal=principal, server_id=server.pk)


@transaction.atomic
def server_update(
    *,
    principal: Principal,
    server_id: UUID,
    name: str | None = None,
    url: str | None = None,
    token: str | None = None,
    is_enabled: bool | None = None,
    client: GivenClient | None = None,
    tools: Sequence[ToolRule] = (),
) -> ToolServer:
    """Change what is given. Another way to sign in is another server.

    Args:
        url: it is switched off until it has answered there, with what it has then to be allowed
            anew. Its token goes, unless one is given too, and whoever signed in signs in again:
            a secret is for the address it was given for.
        client: in place of the one that is used; whoever was connected signs in again.
        tools: rules for those that are named; the others keep theirs.
    Raises:
        PermissionDenied, NotFound, InvalidRequest: a tool is held, and its rule does not say which
            definition was looked at. Conflict: the name is taken; a tool is another by now.
    """
    server = server_get(principal=principal, server_id=server_id)
    if (token and server.has_sign_in) or (client is not None and not server.has_sign_in):
        raise InvalidRequest(
            "This is not how this tool server is told who calls.",
            param="token" if token else "client_id",
        )
    if url is not None and url != server.url:
        _move(server, url)
    if client is not None:
        client_give(server, client_id=client.client_id, secret=client.secret)
    if token is not None:
        _check(server.url, token, SEARCH_WHAT if server.is_web else WHAT)
        _set_token(server, token)
    server.name = name if name is not None else server.name
    server.is_enabled = is_enabled if is_enabled is not None else server.is_enabled
    _save(server)
    after_hold = [rule.name for rule in tools if rule_set(server, rule)]
    _note(
        Action.TOOL_SERVER_UPDATED,
        principal,
        server,
        is_enabled=server.is_enabled,
        allowed=[rule.name for rule in tools if rule.is_allowed],
        without_approval=[r.name for r in tools if r.is_allowed and not r.needs_approval],
        after_hold=after_hold,
    )
    return server_get(principal=principal, server_id=server_id)


@transaction.atomic
def server_delete(*, principal: Principal, server_id: UUID) -> None:
    """Raises PermissionDenied, NotFound. InvalidRequest: it is the product's own."""
    server = server_get(principal=principal, server_id=server_id)
    if server.is_python:
        raise InvalidRequest("Python is switched off, not removed.", param="tool_server_id")
    _note(Action.TOOL_SERVER_DELETED, principal, server)
    server.delete()


@transaction.atomic
def tools_save(
    *,
    principal: Principal,
    server_id: UUID,
    found: Sequence[FoundTool],
    orders: Mapping[str, str] | None = None,
) -> ToolServer:
    """Store what the server has now, and switch it on where this is its first answer. A tool that
    is new, or is not what was allowed any more, is not allowed, and asks for approval whatever it
    claims. One that is held is audited.

    Args:
        orders: what of each reads like orders (definitions.py), by fingerprint; of what is not
            named, nothing.
    Raises:
        PermissionDenied, NotFound.
    """
    server = server_get(principal=principal, server_id=server_id)
    if not server.has_answered:
        server.is_enabled = server.has_answered = True
    _store_tools(principal, server, found, orders or {})
    server.checked_at, server.error, server.error_code = timezone.now(), "", ""
    server.save(update_fields=["checked_at", "error", "error_code", "is_enabled", "has_answered"])
    return server_get(principal=principal, server_id=server_id)


def _store_tools(
    principal: Principal, server: ToolServer, found: Sequence[FoundTool], orders: Mapping[str, str]
) -> None:
    known = {tool.name: tool for tool in server.tools.select_for_update()}
    by_name = {one.name: one for one in found}
    server.tools.exclude(name__in=by_name).delete()
    for name, one in by_name.items():
        tool = known.get(name) or Tool(server=server, name=name)
        if definition_take(tool, one, orders=orders.get(one.fingerprint, "")):
            _note(Action.TOOL_HELD, principal, server, tool=name, held_for=tool.held_for)


def server_failed(*, principal: Principal, server_id: UUID, error: ToolFailed) -> ToolServer:
    """Note why its tools could not be read. Raises PermissionDenied, NotFound."""
    server = server_get(principal=principal, server_id=server_id)
    server.checked_at = timezone.now()
    server.error, server.error_code = str(error)[:300], error.code
    server.save(update_fields=["checked_at", "error", "error_code"])
    return server


def _check(url: str, token: str, what: str = WHAT) -> None:
    outbound.check_url(
        url, to_private=settings.TOOLS_TO_PRIVATE, what=what, switch=TO_PRIVATE_SWITCH
    )
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise InvalidRequest("A token has no spaces and only ASCII characters.", param="token")


def _move(server: ToolServer, url: str) -> None:
    if server.is_python:
        raise InvalidRequest("Python has no address.", param="url")
    _check(url, "", SEARCH_WHAT if server.is_web else WHAT)
    server.url, server.encrypted_token = url, ""
    server.is_enabled, server.has_answered = server.has_sign_in, False
    server.checked_at, server.error, server.error_code = None, "", ""
    OAuthClient.objects.filter(server=server).delete()
    ToolConnection.objects.filter(server=server).delete()
    if not server.is_web:
        server.tools.all().delete()


def _set_token(server: ToolServer, token: str) -> None:
    server.encrypted_token = token and token_encrypt(
        token, organization_id=server.organization_id, server_id=server.pk
    )


def _save(server: ToolServer) -> None:
    try:
        with transaction.atomic():
            server.save()
    except IntegrityError as error:
        raise Conflict(f"There is a tool server {server.name!r} already.", param="name") from error


def _note(
    action: Action, principal: Principal, server: ToolServer, **details: bool | str | list[str]
) -> None:
    record(
        action,
        organization_id=principal.organization_id,
        actor=principal,
        target=("tool_server", server.pk),
        details={"name": server.name, "url": server.url, **details},
    )
