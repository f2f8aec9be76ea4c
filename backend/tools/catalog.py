"""Which tools a person's turn offers: those that the organization allows and they switched on."""

import hashlib
import re
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from backend.accounts.principal import Principal
from backend.conversations.models import Conversation
from backend.platform.errors import NotFound
from backend.tools.assistants import tool_ids_of_chat
from backend.tools.models import (
    WEB_KINDS,
    ServerAuth,
    ServerKind,
    Tool,
    ToolGrant,
    ToolServer,
    ToolUse,
)
from backend.tools.oauth_models import ConnectionState, ToolConnection
from backend.tools.python_tool import PYTHON_NAME
from backend.tools.servers import servers_of

MAX_OFFERED = 64
_MAX_NAME = 64
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]+")


def tools_for(
    principal: Principal, conversation: Conversation, *, runs_python: bool = False
) -> list[Tool]:
    """By server and name, at most 64: what the chat's assistant names, or else what its person has
    switched on; and the web, where they let it be searched. None for a key: approvals are a
    person's.

    Args:
        runs_python: whether a page of theirs can run it.
    """
    if principal.is_api_key or principal.user_id is None:
        return []
    usable = Tool.objects.filter(
        server__organization_id=principal.organization_id,
        server__is_enabled=True,
        is_allowed=True,
    )
    named = tool_ids_of_chat(principal, conversation.assistant_id)
    kinds = [ServerKind.MCP, ServerKind.PYTHON] if runs_python else [ServerKind.MCP]
    chosen = Q(server__kind__in=kinds)
    if named is None:
        used = ToolUse.objects.filter(user_id=principal.user_id).values("server_id")
        chosen &= Q(server_id__in=used)
    else:
        chosen &= Q(pk__in=named)
    of_web = Q(server__kind__in=WEB_KINDS)
    usable = usable.filter(chosen | of_web if conversation.web_search else chosen)
    usable = usable.filter(_reachable(principal))
    return list(usable.select_related("server").order_by("server__name", "name")[:MAX_OFFERED])


def _reachable(principal: Principal) -> Q:
    """Of tools whose servers nobody has to sign in at, or somebody has."""
    connected = ToolConnection.objects.filter(
        server_id=OuterRef("server_id"),
        organization_id=principal.organization_id,
        state=ConnectionState.CONNECTED,
    )
    return (
        Q(server__auth=ServerAuth.TOKEN)
        | Q(server__auth=ServerAuth.PERSON) & Exists(connected.filter(user_id=principal.user_id))
        | Q(server__auth=ServerAuth.ORGANIZATION) & Exists(connected.filter(user=None))
    )


def offered_name(tool: Tool) -> str:
    """As models read it: letters, digits, `_` and `-`, at most 64, one for each tool."""
    if tool.server.is_python:
        return PYTHON_NAME  # the others end in a digest
    plain = f"{tool.server.name}_{tool.name}"
    name = _NOT_IN_NAMES.sub("_", plain)
    digest = hashlib.sha256(f"{tool.server_id}\0{tool.name}".encode()).hexdigest()[:6]
    return f"{name[: _MAX_NAME - 7]}_{digest}"


def as_openai(tool: Tool) -> dict[str, Any]:
    """What a request tells the model of it."""
    description = "\n".join(text for text in (tool.title, tool.description) if text)
    function = {
        "name": offered_name(tool),
        "description": description,
        "parameters": tool.input_schema,
    }
    return {"type": "function", "function": function}


def has_web_search(principal: Principal) -> bool:
    """Whether the caller's chats can be let search the web."""
    servers = servers_of(principal).filter(kind__in=WEB_KINDS)
    return servers.filter(is_enabled=True, tools__name="search", tools__is_allowed=True).exists()


def servers_usable(*, principal: Principal) -> list[tuple[ToolServer, bool]]:
    """Servers with a tool that is allowed, and whether the caller has switched them on. The web is
    switched on in each chat."""
    servers = (
        servers_of(principal)
        .exclude(kind__in=WEB_KINDS)
        .filter(is_enabled=True, tools__is_allowed=True)
        .order_by("name")
        .prefetch_related("tools")
        .distinct()
    )
    used = set(
        ToolUse.objects.filter(
            user_id=principal.user_id, server__organization_id=principal.organization_id
        ).values_list("server_id", flat=True)
    )
    return [(server, server.pk in used) for server in servers]


def server_use(*, principal: Principal, server_id: UUID, is_on: bool) -> None:
    """Switch a server's tools on or off for the caller's chats. Raises NotFound."""
    server = servers_of(principal).filter(pk=server_id, is_enabled=True).first()
    if server is None:
        raise NotFound(f"There is no tool server {server_id}.")
    if is_on:
        ToolUse.objects.get_or_create(server=server, user_id=principal.user_id)
    else:
        ToolUse.objects.filter(server=server, user_id=principal.user_id).delete()


def grants_of(principal: Principal) -> QuerySet[ToolGrant]:
    """What the caller lets be called without asking, in this organization."""
    return ToolGrant.objects.filter(
        user_id=principal.user_id, tool__server__organization_id=principal.organization_id
    )


def always_granted(*, principal: Principal) -> list[ToolGrant]:
    """Those for all chats, newest first."""
    rows = grants_of(principal).filter(conversation=None)
    return list(rows.select_related("tool__server").order_by("-created_at"))


def grant_revoke(*, principal: Principal, grant_id: int) -> None:
    """Raises NotFound."""
    deleted, _ = grants_of(principal).filter(pk=grant_id).delete()
    if not deleted:
        raise NotFound(f"There is no grant {grant_id}.")
