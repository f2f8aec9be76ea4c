"""Writes of `accounts`: users, organizations and API keys. members.py holds who belongs where."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from allauth.account.models import EmailAddress
from django.contrib.auth.hashers import make_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from backend.accounts import key_cache
from backend.accounts.keys import secret_generate, secret_hash, secret_shown
from backend.accounts.models import APIKey, Membership, Organization, Project, Role, User
from backend.accounts.principal import Principal
from backend.accounts.project_access import project_usable
from backend.accounts.roles import MANAGERS, WITHOUT_KEYS
from backend.accounts.scopes import Scope
from backend.accounts.sessions import sessions_end
from backend.audit.actions import Action
from backend.audit.services import SYSTEM, Actor, Caller, record
from backend.platform.errors import (
    AuthenticationFailed,
    Conflict,
    InsufficientQuota,
    InvalidRequest,
    NotFound,
    PermissionDenied,
)
from backend.platform.moments import utc

_NAME_LIMIT = 200
_PASSWORD_LIMIT = 1000  # hashing a megabyte with argon2 would be a cheap way to stall us


def user_create(
    *,
    email: str,
    password: str,
    name: str = "",
    organization_name: str = "",
    **fields: Any,
) -> User:
    """A new user, who owns a new organization with a default project; their address counts as
    verified. For the administrator's own tools: users who sign up go through sign_up.py.

    Raises:
        InvalidRequest: with `param`: not an address, or a password that is easy to guess.
        Conflict: the address is taken, in whatever case, also at the same moment.
    """
    name, email = clean_name(name), clean_email(email)
    hashed = password_hash(password, User(email=email, name=name))
    return user_create_hashed(
        email=email, password=hashed, name=name, organization_name=organization_name, **fields
    )


@transaction.atomic
def user_create_hashed(
    *, email: str, password: str, name: str, organization_name: str = "", **fields: Any
) -> User:
    """As `user_create`, of an address and a name that are clean and a password that is hashed."""
    user = user_insert(email=email, password=password, name=name, **fields)
    own_organization_create(owner=user, name=organization_name)
    return user


@transaction.atomic
def user_insert(*, email: str, password: str, name: str, **fields: Any) -> User:
    """A user who is in no organization yet; the caller sees to it that they will be."""
    user = User(email=email, name=name, password=password, **fields)
    try:
        with transaction.atomic():
            user.save(force_insert=True)
    except IntegrityError as error:
        raise Conflict(
            "An account with this e-mail address exists already; sign in instead.",
            param="email",
            code="email_taken",
        ) from error
    EmailAddress.objects.create(user=user, email=email, verified=True, primary=True)
    return user


def own_organization_create(*, owner: User, name: str = "") -> Organization:
    """One that they have to themselves; without a name it is called after them."""
    called = owner.name or owner.email.split("@")[0]
    return organization_create(owner=owner, name=name or f"{called}'s organization")


@transaction.atomic
def organization_create(*, owner: User, name: str) -> Organization:
    """An organization on the plan `free`, with its owner and its default project."""
    organization = Organization.objects.create(name=name[:_NAME_LIMIT])
    Membership.objects.create(organization=organization, user=owner, role=Role.OWNER)
    Project.objects.create(organization=organization, name="Default", is_default=True)
    return organization


def user_rename(*, user_id: UUID, name: str) -> User:
    """Raises NotFound, or InvalidRequest for a name over 200 characters."""
    user = User.objects.filter(pk=user_id).first()
    if user is None:
        raise NotFound("This account does not exist any more.")
    user.name = clean_name(name)
    user.save(update_fields=["name"])
    return user


def user_language_set(*, user_id: UUID, language: str) -> None:
    """The language of their page and mails, BCP 47; empty: as their browser says."""
    User.objects.filter(pk=user_id).update(language=language)


@transaction.atomic
def user_active_set(*, user: User, is_active: bool) -> None:
    """Lock a user out, or let them in again.

    Their sessions end for good: who was in by a stolen one is not let in with the user. Their keys
    are only suspended: they work again a minute after the user is let in again.
    """
    User.objects.filter(pk=user.pk).update(is_active=is_active)
    if is_active:
        return
    sessions_end(user_id=user.pk)
    keys_refuse(list(APIKey.objects.filter(created_by=user).values_list("sha256", flat=True)))


@transaction.atomic
def api_key_create(
    *,
    principal: Principal,
    name: str,
    project_id: UUID | None = None,
    scopes: Iterable[str] = (),
    expires_at: datetime | None = None,
) -> tuple[APIKey, str]:
    """A key of the principal's organization, and its secret, which nothing keeps.

    A key that makes a key gives no more than it has: its own project, scopes and time. What it made
    ends with it.

    Args:
        project_id: one that the caller may use; None means the default project, or the key's own.
        scopes: of Scope; none means everything.
        expires_at: None means never, or when the key ends that makes it.
    Raises:
        PermissionDenied: the role `finance`, or a scope that the caller lacks themselves.
        InvalidRequest: with `param`: no name, unknown scope, expiry in the past or after that of
            the key that makes it.
        NotFound: the project is not the caller's. Conflict: it is archived.
        AuthenticationFailed: the key that makes it has ended meanwhile.
        InsufficientQuota: the organization has as many as its plan allows.
    """
    if principal.role in WITHOUT_KEYS:
        raise PermissionDenied(f"The role {principal.role} cannot create API keys.")
    name = clean_text(name, param="name", required=True)
    wanted = _clean_scopes(scopes, principal)
    if expires_at is not None:
        expires_at = utc(expires_at, param="expires_at")
    if expires_at is not None and expires_at <= timezone.now():
        raise InvalidRequest("expires_at lies in the past.", param="expires_at")
    _key_room_check(principal.organization_id)
    parent = _parent_of(principal)
    if parent is not None:
        expires_at = _within(parent, expires_at)
    return api_key_insert(
        actor=principal,
        # A session's principal has the default project, a key's its own.
        project=project_usable(principal, project_id or principal.project_id),
        created_by_id=principal.user_id,
        name=name,
        scopes=wanted,
        expires_at=expires_at,
        parent=parent,
    )


def _key_room_check(organization_id: UUID) -> None:
    """Refuse one key too many. Counts under a lock, in a transaction."""
    organization = (
        Organization.objects.select_for_update(no_key=True, of=("self",))
        .select_related("plan")
        .get(pk=organization_id)
    )
    working = APIKey.objects.filter(
        Q(expires_at=None) | Q(expires_at__gt=timezone.now()),
        organization_id=organization_id,
        revoked_at=None,
        is_internal=False,
    )
    allowed = organization.plan.api_keys
    if working.count() >= allowed:
        raise InsufficientQuota(
            f"Your organization has {allowed:,} API keys, as many as its plan allows. Revoke some.",
            code="too_many_keys",
        )


def _parent_of(principal: Principal) -> APIKey | None:
    """The calling key, locked: it ends before or after what it makes is there, never meanwhile."""
    if principal.key_id is None:
        return None
    parent = APIKey.objects.select_for_update().filter(pk=principal.key_id, revoked_at=None).first()
    if parent is None:
        raise AuthenticationFailed("This API key has been revoked.")
    return parent


def _within(parent: APIKey, expires_at: datetime | None) -> datetime | None:
    """When a key ends that `parent` makes."""
    if expires_at is None or parent.expires_at is None:
        return expires_at or parent.expires_at
    if expires_at > parent.expires_at:
        raise InvalidRequest(
            f"This API key ends at {parent.expires_at:%Y-%m-%d %H:%M} UTC, and what it makes no"
            " later.",
            param="expires_at",
        )
    return expires_at


@transaction.atomic
def api_key_insert(
    *,
    actor: Caller,
    project: Project,
    created_by_id: UUID,
    name: str,
    scopes: list[str],
    expires_at: datetime | None = None,
    parent: APIKey | None = None,
) -> tuple[APIKey, str]:
    """The row and the secret; the callers have decided who may, and cleaned what they give."""
    secret = secret_generate()
    key = APIKey.objects.create(
        organization_id=project.organization_id,
        project=project,
        created_by_id=created_by_id,
        name=name,
        prefix=secret_shown(secret),
        sha256=secret_hash(secret),
        scopes=scopes,
        expires_at=expires_at,
        parent=parent,
    )
    record(
        Action.KEY_CREATED,
        organization_id=key.organization_id,
        actor=actor,
        target=("api_key", key.pk),
        project_id=project.pk,
        details={"name": name, "scopes": scopes},
    )
    return key, secret


@transaction.atomic
def api_key_revoke(*, principal: Principal, key_id: UUID) -> None:
    """End a key, for good and at once in every process.

    Owners and admins may end every key of the organization, others their own.

    Raises:
        NotFound: no such key for this caller, or it is revoked already.
    """
    keys = APIKey.objects.filter(
        organization_id=principal.organization_id, revoked_at=None, is_internal=False
    )
    if not principal.manages_organization:
        keys = keys.filter(created_by_id=principal.user_id)
    key = keys.filter(pk=key_id).first()
    if key is None:
        raise NotFound(f"There is no API key {key_id}.")
    api_key_end(key=key, actor=principal)


@transaction.atomic
def api_key_end(*, key: APIKey, actor: Caller = SYSTEM) -> None:
    """Revoke `key` and what it made; the service above and the admin decide who may."""
    APIKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=timezone.now())
    record(
        Action.KEY_DELETED,
        organization_id=key.organization_id,
        actor=actor,
        target=("api_key", key.pk),
        project_id=key.project_id,
        details={"name": key.name},
    )
    keys_refuse([key.sha256])
    for child in APIKey.objects.filter(parent=key, revoked_at=None):
        api_key_end(key=child, actor=actor)


@transaction.atomic
def user_keys_end(*, user_id: UUID) -> None:
    """Revoke the keys that a user made, in each of their organizations."""
    keys = APIKey.objects.filter(created_by_id=user_id, revoked_at=None, is_internal=False)
    for key in keys.order_by("pk"):
        api_key_end(key=key, actor=Actor(user_id=user_id))


def keys_refuse(hashes: list[str]) -> None:
    """Every process refuses these keys from the commit on.

    Not before: until then another process could load the row as valid once more.

    `robust`, because without Redis there is no cached principal to be refused either. Django
    logs a robust hook by its __qualname__, which a partial lacks.
    """

    def refuse() -> None:
        for sha256 in hashes:
            key_cache.revocation_write(sha256)

    transaction.on_commit(refuse, robust=True)


def clean_text(value: str, *, param: str, required: bool) -> str:
    """Without needless space. Raises InvalidRequest: empty though required, or over 200."""
    value = " ".join(value.split())
    if required and not value:
        raise InvalidRequest(f"{param} must not be empty.", param=param)
    if len(value) > _NAME_LIMIT:
        raise InvalidRequest(f"{param} is longer than {_NAME_LIMIT} characters.", param=param)
    if "\x00" in value:
        raise InvalidRequest(f"{param} must not contain a null character.", param=param)
    return value


def clean_name(name: str) -> str:
    """A person's name without needless space. Raises InvalidRequest."""
    return clean_text(name, param="name", required=False)


def password_hash(password: str, user: User) -> str:
    """The hash to store. Takes 100 MiB for some 50 ms: run it in PASSWORD_THREADS.

    Raises:
        InvalidRequest: it is easy to guess, for this `user` in particular.
    """
    if len(password) > _PASSWORD_LIMIT:
        raise InvalidRequest(
            f"The password is longer than {_PASSWORD_LIMIT} characters.", param="password"
        )
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise InvalidRequest(" ".join(error.messages), param="password") from error
    return make_password(password)


def clean_email(email: str) -> str:
    """As it is stored: in lower case. Raises InvalidRequest where it is not an address."""
    email = email.strip().lower()
    try:
        validate_email(email)
        User._meta.get_field("email").run_validators(email)
        email.rpartition("@")[2].encode("idna")  # as it is sent
    except (ValidationError, UnicodeError) as error:
        raise InvalidRequest(f"{email[:100]!r} is not an e-mail address.", param="email") from error
    return email


def _clean_scopes(scopes: Iterable[str], principal: Principal) -> list[str]:
    held = principal.scopes
    wanted = sorted(set(scopes))
    unknown = [scope for scope in wanted if scope not in set(Scope)]
    if unknown:
        known = ", ".join(sorted(Scope))
        raise InvalidRequest(f"Unknown scope {unknown[0]!r}; there are {known}.", param="scopes")
    if held and (not wanted or not set(wanted) <= held):
        raise PermissionDenied(
            "This API key cannot create one that may do more than itself.", param="scopes"
        )
    if Scope.ADMINISTRATION in wanted:
        principal.require(Scope.ADMINISTRATION)
        if principal.role not in MANAGERS:
            raise PermissionDenied(
                "Only owners and admins make keys that administer the organization.",
                param="scopes",
            )
    return wanted
