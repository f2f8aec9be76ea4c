"""`/api/keys`: API keys of the organization."""

from uuid import UUID

from ninja import Router, Status

from backend.accounts.principal import AuthenticatedRequest
from backend.accounts.selectors import api_keys_list
from backend.accounts.services import api_key_create, api_key_revoke
from backend.api.schemas.resources import KeyCreate, KeyListOut, KeyOut, NewKeyOut
from backend.platform.database import in_database

router = Router(tags=["keys"])


@router.get("", response=KeyListOut)
async def list_keys(request: AuthenticatedRequest) -> KeyListOut:
    """Owners and admins see all of the organization's keys, others their own."""
    keys = await in_database(api_keys_list, principal=request.auth)
    return KeyListOut(data=[KeyOut.of(key) for key in keys])


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
