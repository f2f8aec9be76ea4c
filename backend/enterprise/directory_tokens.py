"""The token that an organization's directory calls SCIM with. Only its hash is kept."""

import hashlib
import secrets
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from backend.accounts.principal import Principal
from backend.audit.actions import Action
from backend.audit.services import record
from backend.enterprise.connections import require_owner
from backend.enterprise.models import DirectoryGroup, DirectoryToken, DirectoryUser
from backend.platform.errors import NotFound

PREFIX = "scim-parley-"
_USE_NOTED_EVERY = timedelta(minutes=5)


def directory_summary(*, principal: Principal) -> dict[str, Any]:
    """Raises PermissionDenied."""
    require_owner(principal)
    organization_id = principal.organization_id
    token = DirectoryToken.objects.filter(pk=organization_id).first()
    return {
        "has_token": token is not None,
        "created_at": token.created_at if token else None,
        "last_used_at": token.last_used_at if token else None,
        "users": DirectoryUser.objects.filter(organization_id=organization_id).count(),
        "groups": DirectoryGroup.objects.filter(
            organization_id=organization_id, is_scim=True
        ).count(),
    }


@transaction.atomic
def directory_token_create(*, principal: Principal) -> str:
    """A token, which nothing keeps; an earlier one stops working. Raises PermissionDenied."""
    require_owner(principal)
    token = f"{PREFIX}{secrets.token_urlsafe(32)}"
    DirectoryToken.objects.filter(pk=principal.organization_id).delete()
    DirectoryToken.objects.create(
        organization_id=principal.organization_id,
        sha256=_hash(token),
        created_by_id=principal.user_id,
    )
    _record(Action.SCIM_ENABLED, principal)
    return token


@transaction.atomic
def directory_token_delete(*, principal: Principal) -> None:
    """Raises PermissionDenied, NotFound."""
    require_owner(principal)
    if not DirectoryToken.objects.filter(pk=principal.organization_id).delete()[0]:
        raise NotFound("There is no SCIM token.")
    _record(Action.SCIM_DISABLED, principal)


def organization_of_token(token: str) -> UUID | None:
    """Whose directory calls; None for an unknown token, or a suspended organization."""
    found = DirectoryToken.objects.filter(
        sha256=_hash(token), organization__suspended_at=None
    ).first()
    if found is None:
        return None
    now = timezone.now()
    if found.last_used_at is None or now - found.last_used_at > _USE_NOTED_EVERY:
        DirectoryToken.objects.filter(pk=found.pk).update(last_used_at=now)
    return found.organization_id


def _record(action: Action, principal: Principal) -> None:
    record(
        action,
        organization_id=principal.organization_id,
        actor=principal,
        target=("scim", principal.organization_id),
    )


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()
