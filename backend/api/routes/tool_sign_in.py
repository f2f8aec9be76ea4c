"""Signing in at tool servers: a person for their own chats, or a manager for all."""

from uuid import UUID

from django.http import HttpResponse
from ninja import Router, Status

from backend.accounts.principal import AuthenticatedRequest
from backend.api import throttling, tool_sign_in
from backend.api.authentication import SessionOnly
from backend.api.schemas.tools import ToolSignInBegin, ToolSignInBegun
from backend.api.sign_in import require_recent
from backend.platform.database import in_database
from backend.tools.models import ServerAuth
from backend.tools.oauth.connections import connection_delete, server_for
from backend.tools.oauth.tokens import tokens_revoke

router = Router(tags=["tools"], auth=SessionOnly())


@router.post("/tool-servers/{uuid:tool_server_id}/connection", response=ToolSignInBegun)
async def begin_tool_sign_in(
    request: AuthenticatedRequest, tool_server_id: UUID, body: ToolSignInBegin
) -> ToolSignInBegun:
    """Where the browser goes to sign in at the server. Where a manager signs in for all, only
    owners and admins do."""
    server = await in_database(server_for, request.auth, tool_server_id)
    if server.auth == ServerAuth.ORGANIZATION:
        await require_recent(request)
    await throttling.count_use(request, request.auth, "tool_sign_ins")
    url = await tool_sign_in.begin(request, request.auth, server, page=body.page)
    return ToolSignInBegun(url=url)


@router.delete("/tool-servers/{uuid:tool_server_id}/connection", response={204: None})
async def disconnect_tool_server(request: AuthenticatedRequest, tool_server_id: UUID) -> Status:
    """Forget the tokens, and ask the authorization server to."""
    server = await in_database(server_for, request.auth, tool_server_id)
    if server.auth == ServerAuth.ORGANIZATION:
        await require_recent(request)
    tokens = await in_database(connection_delete, principal=request.auth, server=server)
    if tokens is not None:
        await tokens_revoke(tokens)
    return Status(204, None)


@router.get("/tool-servers/{uuid:tool_server_id}/callback", response={302: None})
async def finish_tool_sign_in(request: AuthenticatedRequest, tool_server_id: UUID) -> HttpResponse:
    """Where the authorization server sends the browser back to."""
    server = await in_database(server_for, request.auth, tool_server_id)
    await throttling.count_use(request, request.auth, "tool_sign_ins")
    return await tool_sign_in.finish(request, request.auth, server)
