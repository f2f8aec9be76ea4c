"""A directory's users: each an account of the organization's domain, a member while active.

The account's address and name follow the directory's, so that the identity provider's sign-in finds
the account that the directory can deactivate. Deactivated, they lose the membership and the keys
that they made, and what is open ends within seconds (backend/api/access_watch.py); their sessions
end, those of a password only where no other organization has them. The directory removes no owner:
it would decide over the organization that it serves.
"""

from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from scim2_models import InvalidValueException, NotFoundException, UniquenessException, User

from backend.accounts.members import member_end
from backend.accounts.models import Membership, Role
from backend.accounts.services import clean_name
from backend.accounts.sessions import sessions_end, sso_sessions_end
from backend.audit.models import ActorKind
from backend.audit.services import Actor
from backend.enterprise.domain_accounts import (
    account_ensure,
    account_move,
    is_verified_domain,
    member_ensure,
)
from backend.enterprise.group_grants import groups_apply
from backend.enterprise.models import Connection, DirectoryUser
from backend.enterprise.scim.resources import Person, email_of, extra_of, name_of, text_of
from backend.platform.errors import Conflict, InvalidRequest, PermissionDenied

DIRECTORY = Actor(kind=ActorKind.SCIM)


def users_of(organization_id: UUID) -> QuerySet[DirectoryUser]:
    rows = DirectoryUser.objects.filter(organization_id=organization_id)
    return rows.select_related("user").prefetch_related("groups")


def user_get(*, organization_id: UUID, user_id: str) -> DirectoryUser:
    """Raises NotFoundException, also for another organization's."""
    found = users_of(organization_id).filter(pk=_uuid(user_id)).first()
    if found is None:
        raise NotFoundException(detail=f"There is no user {user_id[:100]}.")
    return found


@transaction.atomic
def user_create(*, organization_id: UUID, resource: User) -> DirectoryUser:
    """Take a user of the directory in: their account is made, or found by its verified address.

    Raises:
        UniquenessException: the directory has them already. InvalidValueException: no userName.
        PermissionDenied: the address is of no verified domain, or unverified.
        Conflict: no seat is free.
    """
    user_name = _user_name(resource)
    account = account_ensure(
        organization_id=organization_id, email=email_of(resource), name=name_of(resource)
    )
    row = DirectoryUser(organization_id=organization_id, user=account, is_active=False)
    _save(row, resource, user_name)
    if resource.active is not False:
        _activate(row)
    return user_get(organization_id=organization_id, user_id=str(row.pk))


@transaction.atomic
def user_replace(*, organization_id: UUID, user_id: str, resource: User) -> DirectoryUser:
    """Make the user what `resource` says; a replaced or patched one comes here too.

    The account follows, if its address is of the organization's domains: it gets the new address
    and name. An address that cannot be taken is refused, but stops no deactivation.

    Raises as `user_create`; UniquenessException: another account has the address; Conflict: an
    owner would be deactivated.
    """
    DirectoryUser.objects.select_for_update().filter(
        organization_id=organization_id, pk=_uuid(user_id)
    ).first()
    row = user_get(organization_id=organization_id, user_id=user_id)
    is_active = resource.active is not False
    _account_follow(row, resource, is_required=is_active)
    _save(row, resource, _user_name(resource))
    if is_active and not row.is_active:
        _activate(row)
    elif row.is_active and not is_active:
        _deactivate(row)
    return user_get(organization_id=organization_id, user_id=user_id)


@transaction.atomic
def user_delete(*, organization_id: UUID, user_id: str) -> None:
    """Deactivate, and forget what the directory said. The account stays: its usage was billed.

    Raises NotFoundException. Conflict: an owner.
    """
    row = user_get(organization_id=organization_id, user_id=user_id)
    if row.is_active:
        _deactivate(row)
    row.delete()


def _save(row: DirectoryUser, resource: User, user_name: str) -> None:
    row.user_name = user_name
    row.external_id = text_of(resource.external_id, name="externalId", limit=200)
    row.resource = extra_of(resource)
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError as error:
        raise UniquenessException(detail="The directory has sent this user already.") from error


def _account_follow(row: DirectoryUser, resource: User, *, is_required: bool) -> None:
    place, user = row.organization_id, row.user
    if not is_verified_domain(organization_id=place, email=user.email):
        return  # they use an address of their own
    name = clean_name(name_of(resource)[:200])
    if name and name != clean_name(name_of(Person.model_validate(row.resource))[:200]):
        user.name = name
        user.save(update_fields=["name"])
    try:
        account_move(organization_id=place, user=user, email=email_of(resource))
    except InvalidRequest:
        return  # a directory may have people without an address
    except Conflict as error:
        if is_required:
            raise UniquenessException(detail=error.message) from error
    except PermissionDenied:
        if is_required:
            raise


def _activate(row: DirectoryUser) -> None:
    connection = Connection.objects.filter(organization_id=row.organization_id).first()
    member_ensure(
        organization_id=row.organization_id,
        user=row.user,
        role=connection.default_role if connection else str(Role.MEMBER),
        actor=DIRECTORY,
    )
    row.is_active = True
    row.save(update_fields=["is_active", "changed_at"])
    groups_apply(organization_id=row.organization_id, user_id=row.user_id)


def _deactivate(row: DirectoryUser) -> None:
    membership = Membership.objects.filter(
        organization_id=row.organization_id, user=row.user
    ).first()
    if membership is not None:
        if membership.role == Role.OWNER:
            raise Conflict("The directory removes no owner: give them another role first.")
        is_elsewhere = Membership.objects.filter(user=row.user).exclude(pk=membership.pk).exists()
        member_end(membership=membership, actor=DIRECTORY)
        if is_elsewhere:
            sso_sessions_end(user_id=row.user_id, organization_id=row.organization_id)
        else:
            sessions_end(user_id=row.user_id)
    row.is_active = False
    row.save(update_fields=["is_active", "changed_at"])


def _user_name(resource: User) -> str:
    name = text_of(resource.user_name, name="userName", limit=254).strip().lower()
    if not name:
        raise InvalidValueException(detail="userName is missing.")
    return name


def _uuid(value: str) -> UUID:
    try:
        return UUID(value)
    except ValueError:
        return UUID(int=0)
