"""Whom an identity provider's answer signs in: an account, made at the first time.

A provider speaks for the verified domains of its organization and for no other address. An account
with an unverified address is not linked: whoever made it might know its password. A session that
begins so is confined to the organization (backend/api/sso.py), since the same person may belong to
others, whose provider this is not.
"""

from dataclasses import dataclass
from datetime import timedelta

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from backend.accounts.models import User
from backend.enterprise.domain_accounts import (
    account_ensure,
    account_move,
    member_ensure,
    require_verified_domain,
)
from backend.enterprise.errors import sso_refused
from backend.enterprise.group_grants import groups_apply
from backend.enterprise.models import Connection, DirectoryUser, Identity
from backend.platform.errors import Conflict, InvalidRequest

log = structlog.get_logger(__name__)

MAX_SUBJECT = 300


@dataclass(frozen=True, slots=True)
class Claims:
    """What a provider says of a person, checked to be its word."""

    subject: str
    email: str
    is_email_verified: bool
    name: str = ""
    groups: tuple[str, ...] | None = ()
    """None: the provider did not say this time, and the earlier ones stand."""
    is_transient: bool = False
    """The subject is another one at each sign-in (SAML's transient NameID)."""

    def __post_init__(self) -> None:
        """PermissionDenied for a subject that could be two people's."""
        if not 0 < len(self.subject) <= MAX_SUBJECT or "\x00" in self.subject:
            raise sso_refused(
                f"The identity provider's subject has {len(self.subject)} characters;"
                f" 1 to {MAX_SUBJECT} are taken."
            )


MAX_GROUPS = 500


def clean_groups(named: object) -> tuple[str, ...]:
    """Names of groups as a provider sent them: a list of texts, or one text."""
    found = named if isinstance(named, list | tuple) else [named]
    names = (name.strip()[:200] for name in found if isinstance(name, str))
    return tuple(dict.fromkeys(name for name in names if name and "\x00" not in name))[:MAX_GROUPS]


@transaction.atomic
def identity_sign_in(*, connection: Connection, claims: Claims) -> User:
    """The user that `claims` are of, a member of the connection's organization from now on.

    A subject that is known stays its account, whose address follows the provider's. A new subject
    is linked by address, unless the provider knows that account by another subject: the address
    was given to somebody else since.

    Raises:
        PermissionDenied: `sso_foreign_address`, `sso_unverified_address`, `sso_address_reused`,
            `sso_deactivated`, `sso_refused`. Conflict: no seat is free.
    """
    identity = (
        Identity.objects.select_for_update(of=("self",))
        .select_related("user")
        .filter(connection=connection, subject=claims.subject)
        .first()
    )
    user = _known_user(connection, identity, claims) if identity else _new_user(connection, claims)
    if not user.is_active:
        raise sso_refused("This account is deactivated.", code="sso_deactivated")
    _refuse_deactivated(connection, user, claims)
    member_ensure(
        organization_id=connection.organization_id, user=user, role=connection.default_role
    )
    _identity_save(connection, user, claims)
    groups_apply(organization_id=connection.organization_id, user_id=user.pk)
    return user


def _known_user(connection: Connection, identity: Identity, claims: Claims) -> User:
    user, organization_id = identity.user, connection.organization_id
    require_verified_domain(organization_id=organization_id, email=claims.email or user.email)
    if claims.email and claims.is_email_verified:
        try:
            account_move(organization_id=organization_id, user=user, email=claims.email)
        except (Conflict, InvalidRequest) as error:
            log.info("sso_address_not_followed", user=str(user.pk), why=error.message)
    return user


def _new_user(connection: Connection, claims: Claims) -> User:
    if not claims.is_email_verified:
        raise sso_refused(
            "The identity provider has not verified this e-mail address.",
            code="sso_unverified_address",
        )
    user = account_ensure(
        organization_id=connection.organization_id, email=claims.email, name=claims.name
    )
    if claims.is_transient:
        return user
    User.objects.select_for_update().get(pk=user.pk)  # of two subjects at once, one is linked
    others = Identity.objects.filter(connection=connection, user=user, is_transient=False)
    if others.exclude(subject=claims.subject).exists():
        raise sso_refused(
            f"{user.email} belongs to an account that the identity provider knows by another"
            " identifier: an owner of the organization can have it linked anew.",
            code="sso_address_reused",
        )
    return user


def _identity_save(connection: Connection, user: User, claims: Claims) -> None:
    identity, _ = Identity.objects.get_or_create(
        connection=connection,
        subject=claims.subject,
        defaults={"user": user, "is_transient": claims.is_transient},
    )
    identity.last_sign_in_at = timezone.now()
    if claims.groups is not None:
        identity.groups = list(claims.groups)
    identity.save(update_fields=["last_sign_in_at", "groups"])
    if claims.is_transient:
        # Each sign-in has another subject: only the last one's groups hold, and one that no
        # session can be of any more is forgotten.
        earlier = Identity.objects.filter(connection=connection, user=user, is_transient=True)
        earlier = earlier.exclude(pk=identity.pk)
        oldest = timezone.now() - timedelta(seconds=settings.SESSION_COOKIE_AGE)
        earlier.filter(last_sign_in_at__lt=oldest).delete()
        earlier.update(groups=[])


def _refuse_deactivated(connection: Connection, user: User, claims: Claims) -> None:
    """The directory's row of this account decides; without one, a row of the same name."""
    rows = DirectoryUser.objects.filter(organization_id=connection.organization_id)
    row = rows.filter(user=user).first()
    if row is not None:
        is_deactivated = not row.is_active
    else:
        named = Q(user_name=user.email) | Q(external_id=claims.subject)
        is_deactivated = rows.filter(named, is_active=False).exists()
    if is_deactivated:
        raise sso_refused(
            "The organization's directory has deactivated this account.", code="sso_deactivated"
        )
