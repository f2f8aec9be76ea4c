"""`/api/memories`: what is remembered of the caller, the switches, and proposals under messages."""

from uuid import UUID

from ninja import Router, Status

from backend.accounts.principal import AuthenticatedRequest
from backend.api.kept_text_check import memory_check
from backend.api.schemas.memories import (
    ForgottenOut,
    MemoryCreate,
    MemoryListOut,
    MemoryOut,
    MemoryPolicyBody,
    MemorySwitch,
    MemoryTextBody,
)
from backend.conversations import memories
from backend.platform.database import in_database

router = Router(tags=["memories"])


@router.get("/memories", response=MemoryListOut)
async def list_memories(request: AuthenticatedRequest) -> MemoryListOut:
    """All of yours, the newest first, also while memory is off."""
    return await _list(request)


@router.post("/memories", response={201: MemoryOut})
async def create_memory(request: AuthenticatedRequest, body: MemoryCreate) -> Status:
    """A new one; one that says the same already is returned as it is."""
    await memory_check(request, body.text)
    memory = await in_database(
        memories.memory_create,
        principal=request.auth,
        text=body.text,
        project_id=body.project_id,
    )
    return Status(201, MemoryOut.model_validate(memory))


@router.delete("/memories", response=ForgottenOut)
async def forget_memories(request: AuthenticatedRequest) -> ForgottenOut:
    """Forget all of yours in this organization."""
    forgotten = await in_database(memories.memories_forget, principal=request.auth)
    return ForgottenOut(forgotten=forgotten)


@router.put("/memories/settings", response=MemoryListOut)
async def set_memory(request: AuthenticatedRequest, body: MemorySwitch) -> MemoryListOut:
    """Off: nothing is used, proposed or added; what is there stays until you forget it."""
    await in_database(memories.memory_switch, principal=request.auth, is_on=body.is_on)
    return await _list(request)


@router.put("/memories/policy", response=MemoryListOut)
async def set_memory_policy(request: AuthenticatedRequest, body: MemoryPolicyBody) -> MemoryListOut:
    """The switch for all members of the organization, as owner or admin."""
    await in_database(
        memories.memory_policy_set, principal=request.auth, is_allowed=body.is_allowed
    )
    return await _list(request)


@router.patch("/memories/{uuid:memory_id}", response=MemoryOut)
async def update_memory(
    request: AuthenticatedRequest, memory_id: UUID, body: MemoryTextBody
) -> MemoryOut:
    """Say it otherwise."""
    await memory_check(request, body.text)
    memory = await in_database(
        memories.memory_update, principal=request.auth, memory_id=memory_id, text=body.text
    )
    return MemoryOut.model_validate(memory)


@router.delete("/memories/{uuid:memory_id}", response={204: None})
async def forget_memory(request: AuthenticatedRequest, memory_id: UUID) -> Status:
    """Forget it: no prompt holds it from now on."""
    await in_database(memories.memory_forget, principal=request.auth, memory_id=memory_id)
    return Status(204, None)


@router.post("/messages/{uuid:message_id}/memory", response={201: MemoryOut})
async def save_proposal(
    request: AuthenticatedRequest, message_id: UUID, body: MemoryTextBody
) -> Status:
    """Keep what is proposed under a message of yours, as you would have it."""
    await memory_check(request, body.text)
    memory = await in_database(
        memories.proposal_save, principal=request.auth, message_id=message_id, text=body.text
    )
    return Status(201, MemoryOut.model_validate(memory))


@router.delete("/messages/{uuid:message_id}/memory", response={204: None})
async def dismiss_proposal(request: AuthenticatedRequest, message_id: UUID) -> Status:
    """Do not keep what is proposed under a message; forget it again where it was kept."""
    await in_database(memories.proposal_dismiss, principal=request.auth, message_id=message_id)
    return Status(204, None)


async def _list(request: AuthenticatedRequest) -> MemoryListOut:
    state = await in_database(memories.memories_list, principal=request.auth)
    return MemoryListOut(
        data=[MemoryOut.model_validate(one) for one in state.items],
        is_on=state.is_on,
        is_allowed=state.is_allowed,
    )
