"""Who belongs to an organization, and in which role. An organization always has an owner."""

from uuid import UUID

from django.db import IntegrityError, transaction

from backend.accounts.models import APIKey, Membership, Organization, Role, User
from backend.accounts.principal import Principal
from backend.accounts.services import api_key_end
from backend.audit.actions import Action
from backend.audit.services import record
from backend.platform.errors import Conflict, InvalidRequest, NotFound, PermissionDenied


@transaction.atomic
def member_add(*, principal: Principal, email: str, role: str) -> Membership:
    """Give an existing user a place in the principal's organization.

    Raises:
        PermissionDenied: the caller is neither owner nor admin; only an owner makes owners.
        NotFound: no account has this address. Conflict: they are a member already.
    """
    _may_give(principal, role)
    user = User.objects.filter(email=email.strip().lower(), is_active=True).first()
    if user is None:
        raise NotFound("No account has this e-mail address; ask them to sign up.", param="email")
    try:
        with transaction.atomic():
            membership = Membership.objects.create(
                organization_id=principal.organization_id, user=user, role=role
            )
    except IntegrityError as error:
        raise Conflict(f"{user.email} is a member already.", param="email") from error
    _record(Action.USER_ADDED, principal, user.pk, role=role)
    return membership


@transaction.atomic
def member_role_set(*, principal: Principal, user_id: UUID, role: str) -> Membership:
    """Raises as `member_add`, and Conflict for the last owner's role."""
    _may_give(principal, role)
    membership = _locked_membership(principal, user_id)
    if membership.role == Role.OWNER and role != Role.OWNER:
        _may_give(principal, Role.OWNER)
        _keep_an_owner(membership)
    earlier, membership.role = membership.role, role
    membership.save(update_fields=["role"])
    _record(Action.USER_UPDATED, principal, user_id, role=role, earlier_role=earlier)
    return membership


@transaction.atomic
def member_remove(*, principal: Principal, user_id: UUID) -> None:
    """End a membership, and the API keys that the member made for this organization.

    Anyone may leave; owners and admins may remove others, and only owners an owner.

    Raises:
        PermissionDenied, NotFound; Conflict for the last owner.
    """
    membership = _locked_membership(principal, user_id)
    if user_id != principal.user_id:
        _may_give(principal, membership.role)
    if membership.role == Role.OWNER:
        _keep_an_owner(membership)
    membership.delete()
    _record(Action.USER_DELETED, principal, user_id, role=membership.role)
    for key in APIKey.objects.filter(
        organization_id=principal.organization_id, created_by_id=user_id, revoked_at=None
    ):
        api_key_end(key=key, actor=principal)


def _may_give(principal: Principal, role: str) -> None:
    if role not in Role.values:
        known = ", ".join(Role.values)
        raise InvalidRequest(f"Unknown role {role!r}; there are {known}.", param="role")
    if not principal.manages_organization:
        raise PermissionDenied("Only owners and admins manage members.")
    if role == Role.OWNER and principal.role != Role.OWNER:
        raise PermissionDenied("Only an owner decides who is an owner.")


def _record(action: Action, principal: Principal, user_id: UUID, **details: str) -> None:
    record(
        action,
        organization_id=principal.organization_id,
        actor=principal,
        target=("user", user_id),
        details=details,
    )


def _locked_membership(principal: Principal, user_id: UUID) -> Membership:
    # The organization's row is the lock: two owners who leave at once must not both succeed.
    Organization.objects.select_for_update().get(pk=principal.organization_id)
    membership = Membership.objects.filter(
        organization_id=principal.organization_id, user_id=user_id
    ).first()
    if membership is None:
        raise NotFound(f"There is no member {user_id}.")
    return membership


def _keep_an_owner(leaving: Membership) -> None:
    others = Membership.objects.filter(
        organization_id=leaving.organization_id, role=Role.OWNER
    ).exclude(pk=leaving.pk)
    if not others.exists():
        raise Conflict("An organization needs an owner; name another one first.")
