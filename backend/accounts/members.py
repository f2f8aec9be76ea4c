"""Who belongs to an organization, and in which role. An organization always has an owner.

The organization's row is the lock of each change: two owners who leave at once must not both
succeed, and the last seat is taken once. What becomes of a leaving member's chats is not known
here; backend/api/member_removal.py does the whole.
"""

from typing import Literal
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from backend.accounts.models import (
    APIKey,
    Invitation,
    JoinRequest,
    Membership,
    Organization,
    Role,
    User,
)
from backend.accounts.principal import Principal
from backend.accounts.roles import (
    may_give,
    require_may_give,
    require_other_or_manager,
    require_owner,
)
from backend.accounts.scopes import Scope
from backend.accounts.service_accounts import service_accounts_take_keys
from backend.accounts.services import api_key_end, own_organization_create
from backend.audit.actions import Action
from backend.audit.services import Actor, Caller, record
from backend.platform.errors import Conflict, NotFound

KeysChoice = Literal["revoke", "service_account"]


def people_of(organization_id: UUID) -> QuerySet[Membership]:
    """The members who are people: they have the seats."""
    return Membership.objects.filter(
        organization_id=organization_id, user__service_account=None
    ).select_related("user")


def seats_taken(organization_id: UUID) -> int:
    return people_of(organization_id).count()


@transaction.atomic
def member_join(
    *, organization_id: UUID, user: User, role: str, actor: Caller | None = None
) -> Membership:
    """Make a person a member, whoever decided it; the one who calls knows that they may.

    Args:
        actor: who decided it, for the audit log; None where the person themselves did.
    Raises:
        Conflict: they are a member already, or the plan has no seat left (`no_seats`).
    """
    organization = locked_organization(organization_id)
    if Membership.objects.filter(organization_id=organization_id, user=user).exists():
        raise Conflict("They are a member of this organization already.", code="already_member")
    seats = organization.plan.seats
    if seats is not None and seats_taken(organization_id) >= seats:
        raise Conflict(
            f"The plan {organization.plan.name} has {seats} seats, and all are taken.",
            code="no_seats",
        )
    JoinRequest.objects.filter(organization_id=organization_id, user=user).delete()
    membership = Membership.objects.create(organization_id=organization_id, user=user, role=role)
    _record(Action.USER_ADDED, actor or Actor(user_id=user.pk), organization_id, user.pk, role=role)
    return membership


@transaction.atomic
def member_role_set(*, principal: Principal, user_id: UUID, role: str) -> Membership:
    """Give a member another role.

    Raises:
        InvalidRequest: no such role. NotFound: no such member.
        PermissionDenied: the caller may not give it, or not take the one that they have.
        Conflict: they are the last owner.
    """
    require_may_give(principal, role)
    membership = _locked_membership(principal, user_id)
    require_may_give(principal, membership.role)
    return member_role_give(membership=membership, role=role, actor=principal)


@transaction.atomic
def member_role_give(*, membership: Membership, role: str, actor: Caller) -> Membership:
    """Another role, whoever decided it; who calls knows that they may, and has locked the
    organization. Raises Conflict: they are the last owner."""
    if role != Role.OWNER:
        _keep_an_owner(membership)
    earlier, membership.role = membership.role, role
    membership.save(update_fields=["role"])
    _record(
        Action.USER_UPDATED,
        actor,
        membership.organization_id,
        membership.user_id,
        role=role,
        earlier_role=earlier,
    )
    _invitations_end(membership, role)
    return membership


@transaction.atomic
def ownership_transfer(*, principal: Principal, user_id: UUID) -> None:
    """The member `user_id` becomes an owner, and the caller, an owner till now, an admin.

    Raises:
        PermissionDenied: the caller is no owner. NotFound: no such member.
        Conflict: to oneself.
    """
    require_owner(principal)
    if user_id == principal.user_id:
        raise Conflict("You are an owner already.")
    successor = _locked_membership(principal, user_id)
    own = _locked_membership(principal, principal.user_id)
    successor.role, own.role = Role.OWNER, Role.ADMIN
    successor.save(update_fields=["role"])
    own.save(update_fields=["role"])
    _record(Action.OWNERSHIP_TRANSFERRED, principal, principal.organization_id, user_id)
    _invitations_end(own, Role.ADMIN)


@transaction.atomic
def member_remove(*, principal: Principal, user_id: UUID, keys: KeysChoice = "revoke") -> User:
    """End a membership. Anyone may leave; owners and admins may remove others, only owners an
    owner. Whoever has no organization afterwards gets one of their own.

    Args:
        keys: what becomes of the keys that they made for this organization: they stop working, or
            a service account in each key's project holds them from now on. Keys that administer
            the organization always stop.
    Raises:
        PermissionDenied, NotFound; Conflict for the last owner.
    """
    membership = _locked_membership(principal, user_id)
    require_other_or_manager(principal, user_id, membership.role)
    _keep_an_owner(membership)
    theirs = APIKey.objects.filter(
        organization_id=principal.organization_id,
        created_by_id=user_id,
        revoked_at=None,
        is_internal=False,
    )
    if keys == "service_account":
        kept = theirs.exclude(scopes__contains=[Scope.ADMINISTRATION.value])
        service_accounts_take_keys(actor=principal, membership=membership, keys=kept)
    return member_end(membership=membership, actor=principal)


@transaction.atomic
def member_end(*, membership: Membership, actor: Caller) -> User:
    """End a membership and the keys that it made, whoever decided it; who calls knows that they
    may, and that an owner stays."""
    organization_id, user = membership.organization_id, membership.user
    for key in APIKey.objects.filter(
        organization_id=organization_id, created_by=user, revoked_at=None, is_internal=False
    ):
        api_key_end(key=key, actor=actor)
    _invitations_end(membership, role=None)
    _record(Action.USER_DELETED, actor, organization_id, user.pk, role=membership.role)
    membership.delete()
    if not Membership.objects.filter(user=user).exists():
        own_organization_create(owner=user)
    return user


def _record(
    action: Action, actor: Caller, organization_id: UUID, user_id: UUID, **details: str
) -> None:
    record(
        action,
        organization_id=organization_id,
        actor=actor,
        target=("user", user_id),
        details=details,
    )


def locked_organization(organization_id: UUID) -> Organization:
    """With its plan, locked for a change of who belongs to it."""
    return (
        Organization.objects.select_for_update(of=("self",))
        .select_related("plan")
        .get(pk=organization_id)
    )


def _locked_membership(principal: Principal, user_id: UUID) -> Membership:
    locked_organization(principal.organization_id)
    membership = people_of(principal.organization_id).filter(user_id=user_id).first()
    if membership is None:
        raise NotFound(f"There is no member {user_id}.")
    return membership


def _keep_an_owner(leaving: Membership) -> None:
    if leaving.role != Role.OWNER:
        return
    others = Membership.objects.filter(
        organization_id=leaving.organization_id, role=Role.OWNER
    ).exclude(pk=leaving.pk)
    if not others.exists():
        raise Conflict("An organization needs an owner; name another one first.", code="last_owner")


def _invitations_end(membership: Membership, role: str | None) -> None:
    """Those that they could not make any more: a link must not outlive the right to give it."""
    theirs = Invitation.objects.filter(
        organization_id=membership.organization_id,
        invited_by_id=membership.user_id,
        revoked_at=None,
    )
    over = [
        invitation.pk
        for invitation in theirs
        if role is None or not may_give(role, invitation.role)
    ]
    Invitation.objects.filter(pk__in=over).update(revoked_at=timezone.now())
