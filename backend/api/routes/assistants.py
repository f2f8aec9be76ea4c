"""`/api/assistants`: what somebody has set up once for many chats, and shares by role."""

from uuid import UUID

from ninja import Router, Status

from backend.accounts.principal import AuthenticatedRequest
from backend.api.kept_text_check import instructions_check
from backend.api.routes.organization import After, Limit
from backend.api.schemas.assistants import (
    AssistantCreate,
    AssistantOut,
    AssistantPageOut,
    AssistantToolOut,
    AssistantUpdate,
    UsableToolsOut,
)
from backend.conversations import assistants
from backend.conversations.assistant_access import assistant_get
from backend.conversations.assistants import AssistantChange
from backend.generation.pools.config import load_pools
from backend.platform.database import in_database
from backend.tools import assistants as tools
from backend.tools.assistants import Naming, ToolName

router = Router(tags=["assistants"])


@router.get("", response=AssistantPageOut)
async def list_assistants(
    request: AuthenticatedRequest, cursor: After | None = None, limit: Limit = 50
) -> AssistantPageOut:
    """Your own, and those that are shared with your role, the newest first."""
    page = await in_database(
        assistants.assistants_page, principal=request.auth, after=cursor, limit=limit
    )
    ids = [each.pk for each in page.items]
    named = await in_database(tools.tools_named, request.auth, ids)
    return AssistantPageOut(
        data=[AssistantOut.of(each, request.auth, named.get(each.pk)) for each in page.items],
        next_cursor=page.next_cursor,
    )


@router.post("", response={201: AssistantOut})
async def create_assistant(request: AuthenticatedRequest, body: AssistantCreate) -> Status:
    """One of your own; shared with nobody unless you say so."""
    await instructions_check(request, body.instructions)
    made = await in_database(
        tools.assistant_create_with_tools,
        principal=request.auth,
        change=_change(body),
        naming=_naming(body),
    )
    return Status(201, await _shown(request, made.pk))


@router.get("/tools", response=UsableToolsOut)
async def list_assistant_tools(request: AuthenticatedRequest) -> UsableToolsOut:
    """What an assistant of this organization can name."""
    found = await in_database(tools.tools_usable, request.auth)
    return UsableToolsOut(data=[AssistantToolOut.of(tool) for tool in found])


@router.get("/{uuid:assistant_id}", response=AssistantOut)
async def get_assistant(request: AuthenticatedRequest, assistant_id: UUID) -> AssistantOut:
    """One that you see."""
    return await _shown(request, assistant_id)


@router.patch("/{uuid:assistant_id}", response=AssistantOut)
async def update_assistant(
    request: AuthenticatedRequest, assistant_id: UUID, body: AssistantUpdate
) -> AssistantOut:
    """Change it. Its chats read new instructions from their next answer on."""
    await instructions_check(request, body.instructions)
    await in_database(
        tools.assistant_update_with_tools,
        principal=request.auth,
        assistant_id=assistant_id,
        change=_change(body),
        naming=_naming(body),
    )
    return await _shown(request, assistant_id)


@router.delete("/{uuid:assistant_id}", response={204: None})
async def delete_assistant(request: AuthenticatedRequest, assistant_id: UUID) -> Status:
    """For good; chats with it go on without it."""
    await in_database(
        assistants.assistant_delete, principal=request.auth, assistant_id=assistant_id
    )
    return Status(204, None)


@router.post("/{uuid:assistant_id}/duplicate", response={201: AssistantOut})
async def duplicate_assistant(request: AuthenticatedRequest, assistant_id: UUID) -> Status:
    """A copy of your own, shared with nobody."""
    copy = await in_database(
        tools.assistant_duplicate_with_tools, principal=request.auth, assistant_id=assistant_id
    )
    return Status(201, await _shown(request, copy.pk))


async def _shown(request: AuthenticatedRequest, assistant_id: UUID) -> AssistantOut:
    found = await in_database(assistant_get, principal=request.auth, assistant_id=assistant_id)
    named = await in_database(tools.tools_named, request.auth, [assistant_id])
    return AssistantOut.of(found, request.auth, named.get(assistant_id))


def _naming(body: AssistantUpdate) -> Naming | None:
    """A null that was written takes the tools away; one that was not leaves them."""
    if "tools" not in body.model_fields_set:
        return None
    if body.tools is None:
        return Naming(None)
    return Naming([ToolName(each.server_id, each.name) for each in body.tools])


def _change(body: AssistantUpdate) -> AssistantChange:
    """Of the model, "" takes it away: a null that was written differs from one that was not."""
    model = load_pools().find(body.model).id if body.model else None
    if body.model is None and "model" in body.model_fields_set:
        model = ""
    return AssistantChange(
        name=body.name,
        description=body.description,
        instructions=body.instructions,
        model=model,
        parameters=body.parameters.stored if body.parameters is not None else None,
        starters=body.starters,
        seen_by=body.seen_by,
        edited_by=body.edited_by,
    )
