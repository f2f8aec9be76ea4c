"""`/api/keys`: API keys of the organization."""

from uuid import UUID

from ninja import Query, Router, Status

from backend.accounts.authentication import principal_for_key_id
from backend.accounts.principal import AuthenticatedRequest
from backend.accounts.selectors import api_keys_page
from backend.accounts.services import api_key_create, api_key_revoke
from backend.api.request_logs.queries import key_visible, logs_delete, outcomes_of
from backend.api.routes.organization import After, Limit
from backend.api.schemas.request_logs import KeyLimitsOut, KeyOutcomesOut, LimitOut
from backend.api.schemas.resources import KeyCreate, KeyListOut, KeyOut, NewKeyOut
from backend.generation.lifespan import gateway_of
from backend.platform.database import in_database

router = Router(tags=["keys"])


@router.get("", response=KeyListOut)
async def list_keys(
    request: AuthenticatedRequest, cursor: After | None = None, limit: Limit = 100
) -> KeyListOut:
    """Owners and admins see all of the organization's keys, others their own; newest first."""
    page = await in_database(api_keys_page, principal=request.auth, after=cursor, limit=limit)
    return KeyListOut(data=[KeyOut.of(key) for key in page.items], next_cursor=page.next_cursor)


@router.post("", response={201: NewKeyOut})
async def create_key(request: AuthenticatedRequest, body: KeyCreate) -> Status:
    """A new key. Its secret is in this answer and nowhere else."""
    key, secret = await in_database(
        api_key_create,
        principal=request.auth,
        name=body.name,
        scopes=[scope.value for scope in body.scopes],
        expires_at=body.expires_at,
        project_id=body.project_id,
    )
    shown = (await in_database(KeyOut.of, key)).model_dump()
    return Status(201, NewKeyOut(**shown, secret=secret))


@router.delete("/{uuid:key_id}", response={204: None})
async def revoke_key(request: AuthenticatedRequest, key_id: UUID) -> Status:
    """Ends a key at once, for good."""
    await in_database(api_key_revoke, principal=request.auth, key_id=key_id)
    return Status(204, None)


@router.get("/{uuid:key_id}", response=KeyOut)
async def get_key(request: AuthenticatedRequest, key_id: UUID) -> KeyOut:
    """One key that works."""
    return KeyOut.of(await in_database(key_visible, principal=request.auth, key_id=key_id))


@router.get("/{uuid:key_id}/limits", response=KeyLimitsOut)
async def get_key_limits(request: AuthenticatedRequest, key_id: UUID) -> KeyLimitsOut:
    """What binds the key's requests, and what is left of it at this moment."""
    await in_database(key_visible, principal=request.auth, key_id=key_id)
    caller = await in_database(principal_for_key_id, key_id)
    left = await gateway_of(request.scope).limiter.left(caller)
    return KeyLimitsOut(data=[LimitOut.model_validate(one) for one in left])


@router.get("/{uuid:key_id}/outcomes", response=KeyOutcomesOut)
async def get_key_outcomes(
    request: AuthenticatedRequest, key_id: UUID, days: int = Query(30, ge=1, le=90)
) -> KeyOutcomesOut:
    """How many requests of the key succeeded and failed, and how."""

    def read() -> KeyOutcomesOut:
        key = key_visible(principal=request.auth, key_id=key_id)
        return KeyOutcomesOut.of(outcomes_of(key=key, days=days))

    return await in_database(read)


@router.delete("/{uuid:key_id}/request-logs", response={204: None})
async def delete_key_request_logs(request: AuthenticatedRequest, key_id: UUID) -> Status:
    """Delete all that is logged of the key's requests."""
    await in_database(logs_delete, principal=request.auth, key_id=key_id)
    return Status(204, None)
