"""Who a caller is, as the page shows it."""

from backend.accounts.models import User
from backend.accounts.principal import Principal
from backend.accounts.selectors import memberships_list
from backend.api.schemas.account import Me, MembershipOut, OrganizationOut, UserOut
from backend.platform.database import in_database
from backend.platform.errors import PermissionDenied


async def me_of(principal: Principal) -> Me:
    """The user behind `principal`, the organization they work in, and their others."""
    return await in_database(_me, principal)


def _me(principal: Principal) -> Me:
    user = User.objects.get(pk=principal.user_id)
    organizations = [
        MembershipOut(
            id=membership.organization_id,
            name=membership.organization.name,
            plan=membership.organization.plan_id,
            role=membership.role,
        )
        for membership in memberships_list(user_id=principal.user_id)
    ]
    current = next((o for o in organizations if o.id == principal.organization_id), None)
    if current is None:  # a key's principal may be cached for some seconds after a removal
        raise PermissionDenied("You belong to this organization no longer.")
    return Me(
        user=UserOut(id=user.pk, email=user.email, name=user.name),
        organization=OrganizationOut(id=current.id, name=current.name, plan=current.plan),
        role=principal.role,
        organizations=organizations,
    )
