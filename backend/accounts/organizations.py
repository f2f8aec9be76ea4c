"""Writes to an organization itself."""

from django.db import transaction

from backend.accounts.models import Organization
from backend.accounts.principal import Principal
from backend.accounts.roles import require_manager
from backend.accounts.services import clean_text
from backend.audit.actions import Action
from backend.audit.services import record


@transaction.atomic
def organization_rename(*, principal: Principal, name: str) -> None:
    """Raises PermissionDenied for others than owners and admins, InvalidRequest."""
    require_manager(principal)
    name = clean_text(name, param="name", required=True)
    record(
        Action.ORGANIZATION_UPDATED,
        organization_id=principal.organization_id,
        actor=principal,
        target=("organization", principal.organization_id),
    )
    Organization.objects.filter(pk=principal.organization_id).update(name=name)
