"""`/v1/batches`: many requests in one file."""

from typing import Any

from ninja import Query, Router

from backend.accounts.principal import AuthenticatedRequest
from backend.api.batches import rows
from backend.api.schemas.base import PageToken
from backend.api.schemas.files import BatchCreate
from backend.platform.database import in_database

router = Router(tags=["batches"])


@router.post("/batches")
async def create_batch(request: AuthenticatedRequest, body: BatchCreate) -> dict[str, Any]:
    """Answer each line of a file within 24 hours, at the price of a batch."""
    made = await in_database(rows.batch_create, principal=request.auth, body=body)
    return rows.batch_object(made)


@router.get("/batches")
async def list_batches(
    request: AuthenticatedRequest,
    limit: int = Query(20, ge=1, le=100),
    after: PageToken | None = None,
) -> dict[str, Any]:
    """The user's own batches, newest first."""
    return await in_database(rows.batches_list, principal=request.auth, limit=limit, after=after)


@router.get("/batches/{batch_id}")
async def get_batch(request: AuthenticatedRequest, batch_id: str) -> dict[str, Any]:
    """How far it is."""
    return await in_database(rows.batch_shown, principal=request.auth, text_id=batch_id)


@router.post("/batches/{batch_id}/cancel")
async def cancel_batch(request: AuthenticatedRequest, batch_id: str) -> dict[str, Any]:
    """Begin nothing more of it; what is being answered comes to its end, and is billed."""
    return await in_database(rows.batch_cancel, principal=request.auth, text_id=batch_id)
