"""Which tools an assistant uses.

An assistant that names tools offers those in its chats, and no others of the organization's: to
choose it is to switch them on. One that names none leaves it to the person. What is named is
offered only while a manager allows it, and a person's approval and sign-in are asked for as ever.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from backend.accounts.principal import Principal
from backend.conversations.assistant_access import assistants_of
from backend.conversations.assistant_models import Assistant
from backend.conversations.assistants import (
    AssistantChange,
    assistant_create,
    assistant_duplicate,
    assistant_update,
)
from backend.platform.errors import InvalidRequest
from backend.tools.models import AssistantTools, ServerKind, Tool

MAX_TOOLS = 64


@dataclass(frozen=True, slots=True)
class ToolName:
    """A tool of the organization."""

    server_id: UUID
    name: str


@dataclass(frozen=True, slots=True)
class Naming:
    """What is to be set: these tools, or, with None, whichever the person has switched on."""

    tools: Sequence[ToolName] | None


@transaction.atomic
def assistant_create_with_tools(
    *, principal: Principal, change: AssistantChange, naming: Naming | None
) -> Assistant:
    """See `assistant_create`. Raises InvalidRequest too: a tool that nobody may use."""
    assistant = assistant_create(principal=principal, change=change)
    if naming is not None:
        _set(principal, assistant, naming)
    return assistant


@transaction.atomic
def assistant_update_with_tools(
    *,
    principal: Principal,
    assistant_id: UUID,
    change: AssistantChange,
    naming: Naming | None,
) -> Assistant:
    """See `assistant_update`; its tools stay as they are where `naming` is None."""
    assistant = assistant_update(principal=principal, assistant_id=assistant_id, change=change)
    if naming is not None:
        _set(principal, assistant, naming)
    return assistant


@transaction.atomic
def assistant_duplicate_with_tools(*, principal: Principal, assistant_id: UUID) -> Assistant:
    """See `assistant_duplicate`."""
    copy = assistant_duplicate(principal=principal, assistant_id=assistant_id)
    named = AssistantTools.objects.filter(assistant_id=assistant_id).first()
    if named is not None:
        AssistantTools.objects.create(assistant=copy, tool_ids=named.tool_ids)
    return copy


def tools_named(principal: Principal, assistant_ids: Iterable[UUID]) -> dict[UUID, list[Tool]]:
    """The tools that are there of each assistant that names any; others are left out."""
    rows = AssistantTools.objects.filter(
        assistant__in=assistant_ids, assistant__organization_id=principal.organization_id
    )
    named = {row.pk: row.tool_ids for row in rows}
    tools = _usable(principal).in_bulk({one for ids in named.values() for one in ids})
    return {
        assistant_id: [tools[one] for one in ids if one in tools]
        for assistant_id, ids in named.items()
    }


def tool_ids_of_chat(principal: Principal, assistant_id: UUID | None) -> list[int] | None:
    """What the assistant of a chat names; None where it leaves the choice to the person, or they do
    not see it any more."""
    if assistant_id is None or not assistants_of(principal).filter(pk=assistant_id).exists():
        return None
    row = AssistantTools.objects.filter(assistant_id=assistant_id).first()
    return row.tool_ids if row is not None else None


def tools_usable(principal: Principal) -> list[Tool]:
    """What an assistant of the caller's organization can name."""
    return list(_usable(principal).order_by("server__name", "name"))


def _usable(principal: Principal) -> QuerySet[Tool]:
    return Tool.objects.filter(
        server__organization_id=principal.organization_id,
        server__kind__in=[ServerKind.MCP, ServerKind.PYTHON],
        server__is_enabled=True,
        is_allowed=True,
    ).select_related("server")


def _set(principal: Principal, assistant: Assistant, naming: Naming) -> None:
    if naming.tools is None:
        AssistantTools.objects.filter(assistant=assistant).delete()
        return
    known = {(tool.server_id, tool.name): tool.pk for tool in _usable(principal)}
    wanted = dict.fromkeys((one.server_id, one.name) for one in naming.tools)
    missing = [name for server, name in wanted if (server, name) not in known]
    if missing:
        raise InvalidRequest(f"There is no tool {missing[0][:128]!r} to use.", param="tools")
    AssistantTools.objects.update_or_create(
        assistant=assistant, defaults={"tool_ids": [known[one] for one in wanted]}
    )
