"""Where a user is signed in: one row of allauth's `UserSession` for each session in use."""

from uuid import UUID

from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.utils import timezone

from backend.accounts.models import PendingAddress, User
from backend.platform.errors import NotFound

# Of a session that an organization's identity provider began: it is confined to that organization.
SSO_ORGANIZATION = "sso_organization"
_USER_AGENT_LIMIT = 200
SESSIONS_SHOWN = 100


def session_record(*, user: User, session_key: str, address: str, user_agent: str) -> None:
    """A session is in use, from this device; written when it begins and now and then later."""
    UserSession.objects.update_or_create(
        session_key=session_key,
        defaults={
            "user": user,
            "ip": address,
            "user_agent": user_agent[:_USER_AGENT_LIMIT],
            "last_seen_at": timezone.now(),
        },
    )


def sessions_list(*, user_id: UUID) -> list[UserSession]:
    """Those that still open the account, the last used first, 100 at most."""
    rows = list(
        UserSession.objects.filter(user_id=user_id).order_by("-last_seen_at")[:SESSIONS_SHOWN]
    )
    alive = set(
        Session.objects.filter(
            session_key__in=[row.session_key for row in rows], expire_date__gt=timezone.now()
        ).values_list("session_key", flat=True)
    )
    ended = [row.pk for row in rows if row.session_key not in alive]
    UserSession.objects.filter(pk__in=ended).delete()
    return [row for row in rows if row.session_key in alive]


def session_end(*, user_id: UUID, session_id: int) -> None:
    """Sign one device out. Raises NotFound, also for another's."""
    row = UserSession.objects.filter(pk=session_id, user_id=user_id).first()
    if row is None:
        raise NotFound(f"There is no session {session_id}.")
    row.end()


def sessions_end(*, user_id: UUID, but: str | None = None) -> None:
    """Sign out everywhere, except in the session with the key `but`. A change of the address that
    one of them began ends too."""
    PendingAddress.objects.filter(user_id=user_id).delete()
    for row in UserSession.objects.filter(user_id=user_id).exclude(session_key=but or ""):
        row.end()


def sso_sessions_end(*, user_id: UUID, organization_id: UUID) -> None:
    """Sign out everywhere where the organization's identity provider signed them in."""
    rows = {row.session_key: row for row in UserSession.objects.filter(user_id=user_id)}
    for session in Session.objects.filter(session_key__in=rows):
        if session.get_decoded().get(SSO_ORGANIZATION) == str(organization_id):
            rows[session.session_key].end()
