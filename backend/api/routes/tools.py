"""Tools of the page: an organization's servers, a person's switches, calls and decisions."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

from ninja import Router, Status

from backend.accounts.principal import AuthenticatedRequest
from backend.api.authentication import SessionOnly
from backend.api.schemas.tools import (
    MyToolsOut,
    ProgramResult,
    ProgramRunBody,
    ProgramRunOut,
    ToolCallListOut,
    ToolCallOut,
    ToolDecision,
    ToolGrantOut,
    ToolServerCreate,
    ToolServerListOut,
    ToolServerOut,
    ToolServerUpdate,
    ToolSwitch,
    UsableServerOut,
    WebSearchCreate,
)
from backend.api.sign_in import require_recent
from backend.api.tool_stop import turn_stop
from backend.generation.lifespan import gateway_of
from backend.platform.database import in_database
from backend.tools import approvals, catalog, page_runs, python_tool, rounds, servers
from backend.tools.definitions import ToolRule, orders_in
from backend.tools.mcp_client import tools_list
from backend.tools.models import ServerAuth, ServerKind, ToolCall, ToolServer
from backend.tools.types import FoundTool, ToolFailed
from backend.tools.web.calls import TOOLS, web_search

router = Router(tags=["tools"], auth=SessionOnly())


@router.get("/organization/tool-servers", response=ToolServerListOut)
async def list_tool_servers(request: AuthenticatedRequest) -> ToolServerListOut:
    """With their tools, and what each may do."""
    await in_database(python_tool.python_ensure, principal=request.auth)
    rows = await in_database(servers.servers_list, principal=request.auth)
    return ToolServerListOut(data=[await _shown(request, row) for row in rows])


@router.post("/organization/tool-servers", response={201: ToolServerOut})
async def create_tool_server(request: AuthenticatedRequest, body: ToolServerCreate) -> Status:
    """An MCP server; `check` reads its tools, and switches it on."""
    await require_recent(request)
    row = await in_database(
        servers.server_create,
        principal=request.auth,
        name=body.name,
        url=body.url,
        token=body.token,
        auth=ServerAuth(body.auth),
        client=body.client.given if body.client is not None else None,
    )
    return Status(201, await _shown(request, row))


@router.post("/organization/web-search", response={201: ToolServerOut})
async def create_web_search(request: AuthenticatedRequest, body: WebSearchCreate) -> Status:
    """Let chats search the web. It is a tool server from then on; `check` tries a search, and
    switches it on."""
    await require_recent(request)
    row = await in_database(
        servers.web_create,
        principal=request.auth,
        kind=ServerKind(body.provider),
        url=body.url,
        token=body.token,
    )
    return Status(201, await _shown(request, row))


@router.patch("/organization/tool-servers/{uuid:tool_server_id}", response=ToolServerOut)
async def update_tool_server(
    request: AuthenticatedRequest, tool_server_id: UUID, body: ToolServerUpdate
) -> ToolServerOut:
    """Rename it, switch it off, set its address or token; allow tools."""
    await in_database(servers.server_get, principal=request.auth, server_id=tool_server_id)
    await require_recent(request)
    row = await in_database(
        servers.server_update,
        principal=request.auth,
        server_id=tool_server_id,
        name=body.name,
        url=body.url,
        token=body.token,
        is_enabled=body.enabled,
        client=body.client.given if body.client is not None else None,
        tools=[
            ToolRule(rule.name, rule.allowed, rule.needs_approval, rule.fingerprint)
            for rule in body.tools
        ],
    )
    return await _shown(request, row)


@router.delete("/organization/tool-servers/{uuid:tool_server_id}", response={204: None})
async def delete_tool_server(request: AuthenticatedRequest, tool_server_id: UUID) -> Status:
    """Its tools go with it; calls that were made stay in their chats."""
    await in_database(servers.server_get, principal=request.auth, server_id=tool_server_id)
    await require_recent(request)
    await in_database(servers.server_delete, principal=request.auth, server_id=tool_server_id)
    return Status(204, None)


@router.post("/organization/tool-servers/{uuid:tool_server_id}/check", response=ToolServerOut)
async def check_tool_server(request: AuthenticatedRequest, tool_server_id: UUID) -> ToolServerOut:
    """Ask the server for its tools; the provider of web search, for results. `error` says why
    that failed. A tool whose texts read like orders to a model is held, and one that is not what
    was allowed any more: `held_for`."""
    row = await in_database(servers.server_get, principal=request.auth, server_id=tool_server_id)
    await require_recent(request)
    return await _shown(request, await _checked(request, row))


async def _shown(request: AuthenticatedRequest, row: ToolServer) -> ToolServerOut:
    return await in_database(ToolServerOut.of, row, request.auth.user_id)


async def _checked(request: AuthenticatedRequest, row: ToolServer) -> ToolServer:
    principal, server_id = request.auth, row.pk
    try:
        found = await _tools_of(row, principal.user_id)
    except ToolFailed as error:
        return await in_database(
            servers.server_failed, principal=principal, server_id=server_id, error=error
        )
    theirs = found if row.kind == ServerKind.MCP else []
    orders = await asyncio.to_thread(orders_in, theirs)
    return await in_database(
        servers.tools_save, principal=principal, server_id=server_id, found=found, orders=orders
    )


async def _tools_of(row: ToolServer, user_id: UUID | None) -> Sequence[FoundTool]:
    """Raises ToolFailed."""
    if row.is_python:
        return [python_tool.TOOL]
    address = await in_database(servers.address_of, row, user_id=user_id)
    if address is None:
        raise ToolFailed(
            "Connect first: this server asks who reads its tools.", code="tool_sign_in_needed"
        )
    if not row.is_web:
        return await tools_list(address)
    await web_search(row.kind, address, "weather")
    return TOOLS


@router.get("/me/tools", response=MyToolsOut)
async def get_my_tools(request: AuthenticatedRequest) -> MyToolsOut:
    """What you can switch on, and what you let be called without asking."""
    await in_database(python_tool.python_ensure, principal=request.auth)
    usable = await in_database(catalog.servers_usable, principal=request.auth)
    granted = await in_database(catalog.always_granted, principal=request.auth)
    return MyToolsOut(
        servers=[
            await in_database(UsableServerOut.of, row, is_on, request.auth.user_id)
            for row, is_on in usable
        ],
        web_search=await in_database(catalog.has_web_search, request.auth),
        always=[ToolGrantOut.of(row) for row in granted],
    )


@router.put("/me/tools/{uuid:tool_server_id}", response={204: None})
async def switch_tools(
    request: AuthenticatedRequest, tool_server_id: UUID, body: ToolSwitch
) -> Status:
    """Offer a server's tools in your chats, or not; from the next turn on."""
    await in_database(
        catalog.server_use, principal=request.auth, server_id=tool_server_id, is_on=body.on
    )
    return Status(204, None)


@router.delete("/me/tool-grants/{int:tool_grant_id}", response={204: None})
async def revoke_tool_grant(request: AuthenticatedRequest, tool_grant_id: int) -> Status:
    """Be asked again."""
    await in_database(catalog.grant_revoke, principal=request.auth, grant_id=tool_grant_id)
    return Status(204, None)


@router.get("/conversations/{uuid:conversation_id}/tool-calls", response=ToolCallListOut)
async def list_tool_calls(request: AuthenticatedRequest, conversation_id: UUID) -> ToolCallListOut:
    """The newest 500, with their results."""
    rows = await in_database(
        approvals.calls_list, principal=request.auth, conversation_id=conversation_id
    )
    return ToolCallListOut(data=[ToolCallOut.of(row) for row in rows])


@router.post("/conversations/{uuid:conversation_id}/tool-calls/stop", response={202: None})
async def stop_tool_calls(request: AuthenticatedRequest, conversation_id: UUID) -> Status:
    """End the turn whose tools are being called, or wait to be. What was written stays, and nobody
    goes on with what a tool still says. Stopping twice is fine."""
    await turn_stop(gateway_of(request.scope), request.auth, conversation_id)
    return Status(202, None)


@router.post("/tool-calls/{uuid:tool_call_id}/decision", response=ToolCallOut)
async def decide_tool_call(
    request: AuthenticatedRequest, tool_call_id: UUID, body: ToolDecision
) -> ToolCallOut:
    """Let it be made, or not; the answer goes on by itself. 409: it does not wait any more."""
    row: ToolCall = await in_database(
        approvals.call_decide,
        principal=request.auth,
        tool_call_id=tool_call_id,
        decision=body.decision,
    )
    return ToolCallOut.of(row)


@router.post("/tool-calls/{uuid:tool_call_id}/run", response=ProgramRunOut)
async def claim_program(request: AuthenticatedRequest, tool_call_id: UUID) -> ProgramRunOut:
    """A page of yours runs it now, and no other. 409: it is not to be run, or another page is at
    it."""
    row = await in_database(page_runs.run_claim, principal=request.auth, tool_call_id=tool_call_id)
    return ProgramRunOut.of(row)


@router.put("/tool-calls/{uuid:tool_call_id}/run", response={204: None})
async def renew_program(
    request: AuthenticatedRequest, tool_call_id: UUID, body: ProgramRunBody
) -> Status:
    """The page is still at it; say so every few seconds. 409: it is not its own any more."""
    await in_database(
        page_runs.run_renew, principal=request.auth, tool_call_id=tool_call_id, run_id=body.run_id
    )
    return Status(204, None)


@router.post("/tool-calls/{uuid:tool_call_id}/release", response={204: None})
async def release_program(
    request: AuthenticatedRequest, tool_call_id: UUID, body: ProgramRunBody
) -> Status:
    """The page leaves: another may run it. 409: it was not its own any more."""
    await in_database(
        page_runs.run_release,
        principal=request.auth,
        tool_call_id=tool_call_id,
        run_id=body.run_id,
    )
    return Status(204, None)


@router.post("/tool-calls/{uuid:tool_call_id}/result", response=ToolCallOut)
async def finish_program(
    request: AuthenticatedRequest, tool_call_id: UUID, body: ProgramResult
) -> ToolCallOut:
    """What came of it; the answer goes on by itself. 409: it was not the page's own any more."""
    row = await in_database(
        rounds.run_finish,
        principal=request.auth,
        tool_call_id=tool_call_id,
        run_id=body.run_id,
        ran=body.ran,
    )
    return ToolCallOut.of(row)
