"""Reads of `accounts`, each scoped by a principal or by the signed-in user."""

from collections.abc import Collection
from uuid import UUID

from backend.accounts.models import APIKey, Membership, User
from backend.accounts.paging import Page, page_after
from backend.accounts.principal import Principal
from backend.platform.errors import NotFound


def memberships_list(*, user_id: UUID) -> list[Membership]:
    """The user's organizations, first joined first, each with its plan loaded."""
    return list(
        Membership.objects.filter(user_id=user_id)
        .select_related("organization__plan")
        .order_by("created_at", "pk")
    )


def is_member_elsewhere(*, user_id: UUID, but: UUID) -> bool:
    """Return whether the user belongs to another organization than `but`."""
    return Membership.objects.filter(user_id=user_id).exclude(organization_id=but).exists()


def membership_get(*, user_id: UUID, organization_id: UUID) -> Membership:
    """The user's place in one organization. NotFound where they have none."""
    membership = (
        Membership.objects.filter(user_id=user_id, organization_id=organization_id)
        .select_related("organization__plan")
        .first()
    )
    if membership is None:
        raise NotFound(f"You have no organization {organization_id}.", param="organization_id")
    return membership


def api_keys_page(*, principal: Principal, after: str | None, limit: int) -> Page[APIKey]:
    """Keys that are not revoked, newest first: all of the organization's for owners and admins,
    their own for others. Keys that the product made for itself are left out.

    Raises InvalidRequest: `after` is none of them."""
    keys = APIKey.objects.filter(
        organization_id=principal.organization_id, revoked_at=None, is_internal=False
    ).select_related("created_by", "project")
    if not principal.manages_organization:
        keys = keys.filter(created_by_id=principal.user_id)
    return page_after(keys, after=after, limit=limit, newest_first=True)


def emails_of(user_ids: Collection[UUID]) -> dict[UUID, str]:
    """The addresses of these users, in one query; for lists that hold ids."""
    return dict(User.objects.filter(pk__in=set(user_ids)).values_list("pk", "email"))


def user_ids_of(emails: Collection[str]) -> list[UUID]:
    """The users that have one of these addresses."""
    wanted = [email.strip().lower() for email in emails]
    return list(User.objects.filter(email__in=wanted).values_list("pk", flat=True))
