"""Who a caller is, as the page shows it."""

from uuid import UUID

from django.conf import settings

from backend.accounts.models import User
from backend.accounts.principal import Principal
from backend.accounts.selectors import memberships_list
from backend.accounts.suspension import suspension_reasons
from backend.accounts.terms import terms_pending
from backend.api.schemas.account import Me, MembershipOut, OrganizationOut, UserOut
from backend.api.schemas.operators import TermsOut
from backend.enterprise.gate import second_factor_is_due
from backend.platform.database import in_database
from backend.platform.errors import PermissionDenied


async def me_of(principal: Principal, *, sso_organization: str | None = None) -> Me:
    """The user behind `principal`, the organization they work in, and their others.

    Args:
        sso_organization: whose identity provider began the session.
    """
    due = await second_factor_is_due(principal, sso_organization=sso_organization)
    return await in_database(_me, principal, due, sso_organization)


def _me(principal: Principal, second_factor_due: bool, sso_organization: str | None) -> Me:
    user = User.objects.get(pk=principal.user_id)
    memberships = memberships_list(user_id=principal.user_id)
    if sso_organization is not None:  # its provider learns of no others
        memberships = [m for m in memberships if str(m.organization_id) == sso_organization]
    reasons = suspension_reasons(
        m.organization_id for m in memberships if m.organization.suspended_at is not None
    )
    organizations = [
        MembershipOut(
            id=membership.organization_id,
            name=membership.organization.name,
            plan=membership.organization.plan_id,
            role=membership.role,
            suspended=reasons.get(membership.organization_id),
        )
        for membership in memberships
    ]
    current = next((o for o in organizations if o.id == principal.organization_id), None)
    if current is None:  # a key's principal may be cached for some seconds after a removal
        raise PermissionDenied("You belong to this organization no longer.")
    return Me(
        user=UserOut(id=user.pk, email=user.email, name=user.name, language=user.language),
        organization=OrganizationOut(
            id=current.id, name=current.name, plan=current.plan, suspended=current.suspended
        ),
        role=principal.role,
        organizations=organizations,
        # A program cannot accept them, and is not asked to.
        pending_terms=[] if principal.is_api_key else _pending_terms(user.pk),
        second_factor_due=second_factor_due,
        support_contact=settings.SUPPORT_CONTACT,
    )


def _pending_terms(user_id: UUID) -> list[TermsOut]:
    return [
        TermsOut(
            id=row.pk,
            name=row.get_kind_display(),
            version=row.version,
            summary=row.summary,
            link=row.link,
        )
        for row in terms_pending(user_id=user_id)
    ]
