"""Definitions of tools: read for orders, held, and allowed as somebody has looked at them.

A definition is pinned by its fingerprint. One that reads like orders to a model, or that is not
what was allowed any more, is held: it is offered only after a manager has named the fingerprint of
what they looked at. Each new definition asks before it is called, whatever its server claims: that
it may be called unasked is a manager's word.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from backend.platform.errors import Conflict, InvalidRequest
from backend.tools.models import Tool, ToolServer
from backend.tools.types import FoundTool
from safety.judge.tool_texts import orders_in_tool


@dataclass(frozen=True, slots=True)
class ToolRule:
    """What a manager lets a tool do.

    Attributes:
        fingerprint: of the definition that they have looked at; "" where they say nothing of it.
    """

    name: str
    is_allowed: bool
    needs_approval: bool
    fingerprint: str = ""


def orders_in(found: Sequence[FoundTool]) -> dict[str, str]:
    """What of each tool reads like orders, by fingerprint. CPU-bound; call it in a thread."""
    return {one.fingerprint: _orders_in(json.dumps(_function(one))) for one in found}


@lru_cache(maxsize=256)
def _orders_in(definition: str) -> str:
    """Of what many organizations use, and of what is looked at again, each text is read once."""
    return orders_in_tool(json.loads(definition))


def _function(tool: FoundTool) -> dict[str, object]:
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "parameters": tool.input_schema,
    }


def definition_take(tool: Tool, found: FoundTool, *, orders: str) -> bool:
    """Store what a server says of `tool` now; whether it is held because of what is new. Where it
    is another, or was not read before and reads like orders, what was allowed is taken back, and
    that it may be called unasked. The web's tools are our own, and believed."""
    is_same = tool.fingerprint == found.fingerprint
    if is_same and tool.orders is not None:
        return False
    before = tool.held_for
    if not is_same:
        tool.title, tool.description = found.title, found.description
        tool.input_schema, tool.fingerprint = found.input_schema, found.fingerprint
        tool.claims_read_only = found.claims_read_only
        tool.claims_destructive = found.claims_destructive
        tool.is_allowed = False
        tool.needs_approval = not (tool.server.is_web and found.claims_read_only)
    elif orders and tool.is_allowed:
        tool.is_allowed, tool.allowed_fingerprint, tool.needs_approval = False, "", True
    tool.orders = orders
    tool.save()
    return bool(tool.held_for) and (not is_same or tool.held_for != before)


def rule_set(server: ToolServer, rule: ToolRule) -> bool:
    """Let a tool do what `rule` says, in the caller's transaction; whether it was held.

    Raises:
        InvalidRequest: there is none of this name; it is held, and the rule names no fingerprint.
        Conflict: it is not what was looked at any more.
    """
    tool = Tool.objects.select_for_update().filter(server=server, name=rule.name).first()
    if tool is None:
        raise InvalidRequest(f"The server has no tool {rule.name!r}.", param="tools")
    was_held = rule.is_allowed and bool(tool.held_for)
    if rule.is_allowed and rule.fingerprint not in ("", tool.fingerprint):
        raise Conflict(
            f"The tool {rule.name!r} has changed. Look at it again.",
            code="tool_changed",
            param="tools",
        )
    if was_held and not rule.fingerprint:
        raise InvalidRequest(
            f"The tool {rule.name!r} is held: name the fingerprint of what you looked at.",
            param="tools",
        )
    tool.is_allowed, tool.needs_approval = rule.is_allowed, rule.needs_approval
    if rule.is_allowed:
        tool.allowed_fingerprint, tool.allowed_text = tool.fingerprint, tool.text
    tool.save(update_fields=["is_allowed", "needs_approval", "allowed_fingerprint", "allowed_text"])
    return was_held
