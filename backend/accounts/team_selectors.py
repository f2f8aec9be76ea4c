"""Reads of an organization's people, invitations and requests, in pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from backend.accounts.invitations import pending_invitations
from backend.accounts.members import people_of, seats_taken
from backend.accounts.models import (
    Invitation,
    JoinRequest,
    Membership,
    Organization,
    OrganizationDomain,
)
from backend.accounts.paging import Page, page_after
from backend.accounts.principal import Principal
from backend.accounts.roles import require_manager
from backend.platform.errors import NotFound


@dataclass(frozen=True, slots=True)
class OrganizationView:
    """Attributes:
    seats: None where the plan has any number.
    seats_taken, invited: people, and open invitations to addresses.
    """

    id: UUID
    name: str
    plan: str
    seats: int | None
    seats_taken: int
    invited: int


def organization_get(*, principal: Principal) -> OrganizationView:
    organization = Organization.objects.select_related("plan").get(pk=principal.organization_id)
    return OrganizationView(
        id=organization.pk,
        name=organization.name,
        plan=organization.plan.slug,
        seats=organization.plan.seats,
        seats_taken=seats_taken(organization.pk),
        invited=pending_invitations(organization.pk),
    )


def members_page(
    *, principal: Principal, after: str | None, limit: int, emails: Sequence[str] = ()
) -> Page[Membership]:
    """The people of the organization, who joined first first. Each member may see them.

    Args:
        emails: only who has one of these addresses; none restricts nothing.
    """
    people = people_of(principal.organization_id)
    if emails:
        people = people.filter(
            user__email__in=[email.strip().lower().replace("\x00", "") for email in emails]
        )
    return page_after(people, after=after, limit=limit, key="user_id")


def member_get(*, principal: Principal, user_id: UUID) -> Membership:
    found = people_of(principal.organization_id).filter(user_id=user_id).first()
    if found is None:
        raise NotFound(f"There is no member {user_id}.")
    return found


def invitations_page(*, principal: Principal, after: str | None, limit: int) -> Page[Invitation]:
    """All of them, newest first. Raises PermissionDenied."""
    require_manager(principal)
    rows = Invitation.objects.filter(organization_id=principal.organization_id)
    return page_after(
        rows.select_related("invited_by"), after=after, limit=limit, newest_first=True
    )


def invitation_get(*, principal: Principal, invitation_id: UUID) -> Invitation:
    require_manager(principal)
    found = Invitation.objects.filter(
        organization_id=principal.organization_id, pk=invitation_id
    ).first()
    if found is None:
        raise NotFound(f"There is no invitation {invitation_id}.")
    return found


def join_requests_page(*, principal: Principal, after: str | None, limit: int) -> Page[JoinRequest]:
    require_manager(principal)
    rows = JoinRequest.objects.filter(organization_id=principal.organization_id)
    return page_after(rows.select_related("user"), after=after, limit=limit)


def domains_page(
    *, principal: Principal, after: str | None, limit: int
) -> Page[OrganizationDomain]:
    require_manager(principal)
    rows = OrganizationDomain.objects.filter(organization_id=principal.organization_id)
    return page_after(rows, after=after, limit=limit)
