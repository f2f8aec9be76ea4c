"""Accounts with an address of an organization's verified domain.

The identity provider (identities.py) and the directory (scim/users.py) speak for such addresses and
for no others: they find or make an account by one, and move an account from one to another.
"""

from uuid import UUID

from allauth.account.models import EmailAddress
from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction

from backend.accounts.addresses import address_is_verified, address_move
from backend.accounts.invitations import invitation_for_address, invitation_use
from backend.accounts.members import member_join
from backend.accounts.models import Membership, OrganizationDomain, User
from backend.accounts.services import clean_email, clean_name
from backend.audit.services import Caller
from backend.enterprise.errors import sso_refused
from backend.platform.errors import Conflict, InvalidRequest


def domain_of(email: str) -> str:
    return email.rpartition("@")[2].strip().lower()


def is_verified_domain(*, organization_id: UUID, email: str) -> bool:
    return OrganizationDomain.objects.filter(
        organization_id=organization_id, domain=domain_of(email), verified_at__isnull=False
    ).exists()


def require_verified_domain(*, organization_id: UUID, email: str) -> None:
    """PermissionDenied, `sso_foreign_address`, for an address that the organization has not
    verified the domain of."""
    if not is_verified_domain(organization_id=organization_id, email=email):
        raise sso_refused(
            f"{domain_of(email)} is not a verified domain of this organization.",
            code="sso_foreign_address",
        )


def account_ensure(*, organization_id: UUID, email: str, name: str) -> User:
    """The account of an address of a verified domain; a new one has no password.

    Raises:
        PermissionDenied: the domain is not the organization's, or the account's address is
            unverified.
    """
    try:
        email = clean_email(email)
    except InvalidRequest as error:
        raise sso_refused(
            "The identity provider gave no e-mail address.", code="sso_foreign_address"
        ) from error
    require_verified_domain(organization_id=organization_id, email=email)
    user = User.objects.with_address(email).first()
    if user is not None:
        if not address_is_verified(user):
            raise sso_refused(
                "An account has this address and has not confirmed it: sign in there and confirm"
                " it first.",
                code="sso_unverified_address",
            )
        return user
    user = User(email=email, name=clean_name(name[:200]), password=make_password(None))
    try:
        with transaction.atomic():
            user.save(force_insert=True)
    except IntegrityError as error:
        raise Conflict("This address was taken at the same moment; try again.") from error
    EmailAddress.objects.create(user=user, email=email, verified=True, primary=True)
    return user


def account_move(*, organization_id: UUID, user: User, email: str) -> None:
    """Give an account the address that the organization has for its person now.

    An account whose own address is of another domain keeps it: its holder chose that one.

    Raises:
        PermissionDenied: `email` is of no verified domain.
        InvalidRequest: it is no address. Conflict: another account has it.
    """
    email = clean_email(email)
    if email == user.email:
        return
    require_verified_domain(organization_id=organization_id, email=email)
    if is_verified_domain(organization_id=organization_id, email=user.email):
        address_move(user=user, email=email)


def member_ensure(
    *, organization_id: UUID, user: User, role: str, actor: Caller | None = None
) -> None:
    """Make a person a member, by the invitation that waits for their address, else as `role`.

    Raises Conflict: no seat is free.
    """
    if Membership.objects.filter(organization_id=organization_id, user=user).exists():
        return
    invitation = invitation_for_address(organization_id=organization_id, email=user.email)
    if invitation is not None:
        invitation_use(invitation_id=invitation.pk, user=user)
    else:
        member_join(organization_id=organization_id, user=user, role=role, actor=actor)
