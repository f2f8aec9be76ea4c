"""Who may still be served: for what stays open longer than one request (streams, WebSockets)."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.contrib.sessions.models import Session
from django.utils import timezone

from backend.accounts.models import APIKey, Membership, Organization, User


@dataclass(frozen=True, slots=True)
class Access:
    """By what somebody was let in.

    Attributes:
        organization_id: in which; None is any (a socket is a person's, not an organization's).
        key_id: None for a session.
        session_key, password: of a socket's session, and the stored password when it opened.
    """

    user_id: UUID
    organization_id: UUID | None = None
    key_id: UUID | None = None
    session_key: str | None = None
    password: str | None = None


def access_ended(watched: Collection[Access]) -> set[Access]:
    """Those of `watched` that would not be let in now. Four queries, however many they are."""
    users = {access.user_id for access in watched}
    passwords = dict(
        User.objects.filter(pk__in=users, is_active=True).values_list("pk", "password")
    )
    places = set(
        Membership.objects.filter(user_id__in=users, organization__suspended_at=None).values_list(
            "user_id", "organization_id"
        )
    )
    members = {user_id for user_id, _ in places}
    keys = _valid_keys({access.key_id for access in watched if access.key_id})
    sessions = _valid_sessions({a.session_key for a in watched if a.session_key})

    def holds(access: Access) -> bool:
        if access.organization_id is None:
            is_member = access.user_id in members
        else:
            is_member = (access.user_id, access.organization_id) in places
        return (
            access.user_id in passwords
            and is_member
            and (access.key_id is None or access.key_id in keys)
            and (access.session_key is None or access.session_key in sessions)
            and access.password in (None, passwords[access.user_id])
        )

    return {access for access in watched if not holds(access)}


def organizations_suspended(ids: Collection[UUID]) -> set[UUID]:
    """Those of `ids` that are suspended."""
    found = Organization.objects.filter(pk__in=ids).exclude(suspended_at=None)
    return set(found.values_list("pk", flat=True))


def users_inactive(ids: Collection[UUID]) -> set[UUID]:
    """Those of `ids` that are deactivated."""
    return set(User.objects.filter(pk__in=ids, is_active=False).values_list("pk", flat=True))


def _valid_keys(ids: set[UUID]) -> set[UUID]:
    now = timezone.now()
    return set(
        APIKey.objects.filter(pk__in=ids, revoked_at=None, project__archived_at=None)
        .exclude(expires_at__lte=now)
        .values_list("pk", flat=True)
    )


def _valid_sessions(keys: set[str]) -> set[str]:
    found = Session.objects.filter(session_key__in=keys, expire_date__gt=timezone.now())
    return set(found.values_list("session_key", flat=True))
