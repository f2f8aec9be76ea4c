"""An MCP server over streamable HTTP: its tools, and calls of them.

A connection for each errand: servers forget sessions, and no call waits behind another. Everything
that a server can do wrong ends as `ToolFailed` within the timeout. Results are not validated
against the schema that a server claims for them: a schema may refer to URLs, which a validator
would fetch past the guard.

Source: Model Context Protocol, revision 2025-06-18, "Streamable HTTP" and "Tools".
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx2
import mcp_types as types
import structlog
from django.conf import settings
from mcp import ClientSession, MCPError
from mcp.client.streamable_http import streamable_http_client

from backend.platform.guarded_client import guarded_client
from backend.tools.oauth.tokens import ConnectionAuth
from backend.tools.types import (
    SERVER_ERROR,
    TO_PRIVATE_SWITCH,
    WHAT,
    Address,
    FoundTool,
    ToolFailed,
    cut,
    stored_text,
)

MAX_TOOLS = 128
MAX_SCHEMA = 20_000
MAX_DESCRIPTION = 2_000
_CANCELLATION_TIMEOUT_S = 1.0

log = structlog.get_logger(__name__)


async def tools_list(address: Address) -> list[FoundTool]:
    """At most MAX_TOOLS; those that no model could be told of are left out. Raises ToolFailed."""
    found: list[types.Tool] = []
    async with _session(address, settings.TOOL_TIMEOUT_S) as session:
        cursor: str | None = None
        while len(found) < MAX_TOOLS:
            params = types.PaginatedRequestParams(cursor=cursor) if cursor else None
            page = await session.list_tools(params=params)
            found += page.tools
            cursor = page.next_cursor
            if not cursor or not page.tools:
                break
    return [_found(tool) for tool in found[:MAX_TOOLS] if _is_usable(tool)]


async def tool_call(address: Address, name: str, arguments: dict[str, Any]) -> str:
    """What the tool says, as text, cut at MAX_RESULT. Where it is cancelled, or takes too long, the
    server is told so first. Raises ToolFailed, also where the tool reports an error."""
    cancellation = _Cancellation()
    async with _session(address, settings.TOOL_TIMEOUT_S, cancellation) as session:
        params = types.CallToolRequestParams(name=name, arguments=arguments)
        try:
            result = await session.send_request(
                types.CallToolRequest(params=params), types.CallToolResult
            )
        except asyncio.CancelledError:
            await cancellation.arrived()
            raise
    text = _text_of(result)
    if result.is_error:
        raise ToolFailed(text or "The tool reported an error without a message.")
    return text


class _Cancellation:
    """Whether the server has heard that a call was given up. The protocol's client sends that when
    its caller is cancelled, and drops it where its connection is closed at once."""

    def __init__(self) -> None:
        self._answered = asyncio.Event()

    async def note(self, response: httpx2.Response) -> None:
        """A hook of the HTTP client, for each answer."""
        if b"notifications/cancelled" in response.request.content:
            self._answered.set()

    async def arrived(self) -> None:
        """Wait for it, but not for a server that does not answer."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._answered.wait(), _CANCELLATION_TIMEOUT_S)


@asynccontextmanager
async def _session(
    address: Address, timeout_s: float, cancellation: _Cancellation | None = None
) -> AsyncIterator[ClientSession]:
    headers = {"Authorization": f"Bearer {address.token}"} if address.token else {}
    connection = address.connection_id
    auth = None if connection is None else ConnectionAuth(connection, address.url)
    try:
        async with (
            asyncio.timeout(timeout_s),
            guarded_client(
                to_private=settings.TOOLS_TO_PRIVATE,
                what=WHAT,
                switch=TO_PRIVATE_SWITCH,
                timeout_s=timeout_s,
                headers=headers,
                auth=auth,
                on_response=None if cancellation is None else cancellation.note,
            ) as client,
            streamable_http_client(address.url, http_client=client, terminate_on_close=False) as (
                read,
                write,
            ),
            ClientSession(read, write, read_timeout_seconds=timeout_s) as session,
        ):
            await session.initialize()
            yield session
    except (
        MCPError,
        httpx2.HTTPError,
        OSError,
        ValueError,
        RuntimeError,
        ToolFailed,
        ExceptionGroup,
    ) as error:
        if auth is not None and auth.failure is not None:
            raise ToolFailed(str(auth.failure), code=auth.failure.code) from error
        first = _first(error)
        if isinstance(first, ToolFailed):
            raise first from error
        log.info("tool_server_failed", error=repr(first))
        if isinstance(first, TimeoutError):
            raise ToolFailed(f"Timeout after {timeout_s:g} s.", code="tool_timeout") from error
        raise ToolFailed(f"{SERVER_ERROR}: {stored_text(str(first))[:200]}") from error


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _text_of(result: types.CallToolResult) -> str:
    """Texts as they are; of anything else, what it was."""
    texts: list[str] = []
    for part in result.content:
        if isinstance(part, types.TextContent):
            texts.append(part.text)
        elif isinstance(part, types.EmbeddedResource) and isinstance(
            part.resource, types.TextResourceContents
        ):
            texts.append(part.resource.text)
        else:
            texts.append(f"[{part.type}]")
    text = "\n\n".join(texts)
    if not text and result.structured_content is not None:
        text = json.dumps(result.structured_content)
    return cut(stored_text(text))


def _is_usable(tool: types.Tool) -> bool:
    schema = tool.input_schema
    return (
        0 < len(tool.name) <= 128
        and _is_storable(json.dumps([tool.name, tool.title, tool.description, schema]))
        and schema.get("type") == "object"
        and len(json.dumps(schema)) <= MAX_SCHEMA
    )


def _is_storable(written: str) -> bool:
    """Whether JSON names no null character and no half of a surrogate pair."""
    try:
        json.dumps(json.loads(written), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return "\\u0000" not in written


def _found(tool: types.Tool) -> FoundTool:
    claims = tool.annotations
    reads_only = bool(claims and claims.read_only_hint)
    return FoundTool(
        name=tool.name,
        title=(tool.title or (claims.title if claims else "") or "")[:200],
        description=(tool.description or "")[:MAX_DESCRIPTION],
        input_schema=tool.input_schema,
        claims_read_only=reads_only,
        claims_destructive=bool(claims and claims.destructive_hint and not reads_only),
    )
