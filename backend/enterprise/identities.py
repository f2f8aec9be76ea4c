"""Whom an identity provider's answer signs in: an account, made at the first time.

A provider speaks for the verified domains of its organization and for no other address. An account
with an unverified address is not linked: whoever made it might know its password. A session that
begins so is confined to the organization (backend/api/sso.py), since the same person may belong to
others, whose provider this is not.
"""

from dataclasses import dataclass
from uuid import UUID

from allauth.account.models import EmailAddress
from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction
from django.utils import timezone

from backend.accounts.addresses import address_is_verified
from backend.accounts.members import member_join
from backend.accounts.models import Membership, OrganizationDomain, User
from backend.accounts.services import clean_email, clean_name
from backend.enterprise.errors import sso_refused
from backend.enterprise.group_grants import groups_apply
from backend.enterprise.models import Connection, DirectoryUser, Identity
from backend.platform.errors import Conflict, InvalidRequest


@dataclass(frozen=True, slots=True)
class Claims:
    """What a provider says of a person, checked to be its word."""

    subject: str
    email: str
    is_email_verified: bool
    name: str = ""
    groups: tuple[str, ...] | None = ()
    """None: the provider did not say this time, and the earlier ones stand."""


MAX_GROUPS = 500


def clean_groups(named: object) -> tuple[str, ...]:
    """Names of groups as a provider sent them: a list of texts, or one text."""
    found = named if isinstance(named, list | tuple) else [named]
    names = (name.strip()[:200] for name in found if isinstance(name, str))
    return tuple(dict.fromkeys(name for name in names if name and "\x00" not in name))[:MAX_GROUPS]


def domain_of(email: str) -> str:
    return email.rpartition("@")[2].strip().lower()


def is_verified_domain(*, organization_id: UUID, email: str) -> bool:
    return OrganizationDomain.objects.filter(
        organization_id=organization_id, domain=domain_of(email), verified_at__isnull=False
    ).exists()


@transaction.atomic
def identity_sign_in(*, connection: Connection, claims: Claims) -> User:
    """The user that `claims` are of, a member of the connection's organization from now on.

    Raises:
        PermissionDenied: `sso_foreign_address`, `sso_unverified_address`, `sso_deactivated`,
            `sso_refused`. Conflict: no seat is free.
    """
    identity = (
        Identity.objects.select_for_update(of=("self",))
        .select_related("user")
        .filter(connection=connection, subject=claims.subject)
        .first()
    )
    user = identity.user if identity else _user_of_address(connection, claims)
    if not user.is_active:
        raise sso_refused("This account is deactivated.", code="sso_deactivated")
    _refuse_deactivated(connection, user)
    _member_ensure(connection, user)
    if identity is None:
        try:
            with transaction.atomic():
                identity = Identity.objects.create(
                    connection=connection, subject=claims.subject, user=user
                )
        except IntegrityError:  # two tabs at once
            identity = Identity.objects.get(connection=connection, subject=claims.subject)
    identity.last_sign_in_at = timezone.now()
    if claims.groups is not None:
        identity.groups = list(claims.groups)
    identity.save(update_fields=["last_sign_in_at", "groups"])
    groups_apply(organization_id=connection.organization_id, user_id=user.pk)
    return user


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
    if not is_verified_domain(organization_id=organization_id, email=email):
        raise sso_refused(
            f"{domain_of(email)} is not a verified domain of this organization.",
            code="sso_foreign_address",
        )
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


def _user_of_address(connection: Connection, claims: Claims) -> User:
    if not claims.is_email_verified:
        raise sso_refused(
            "The identity provider has not verified this e-mail address.",
            code="sso_unverified_address",
        )
    return account_ensure(
        organization_id=connection.organization_id, email=claims.email, name=claims.name
    )


def _refuse_deactivated(connection: Connection, user: User) -> None:
    if DirectoryUser.objects.filter(
        organization_id=connection.organization_id, user=user, is_active=False
    ).exists():
        raise sso_refused(
            "The organization's directory has deactivated this account.", code="sso_deactivated"
        )


def _member_ensure(connection: Connection, user: User) -> None:
    organization_id = connection.organization_id
    if Membership.objects.filter(organization_id=organization_id, user=user).exists():
        return
    member_join(organization_id=organization_id, user=user, role=connection.default_role)
