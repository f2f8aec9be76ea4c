"""Invitations: a link that makes its holder a member, mailed to one address or handed on.

Of the link only a hash is stored; it expires, can be revoked, and works so often. Neither making
nor reading one shows who is registered: for every address the same is stored, mailed and
answered, and what happens to the address is up to who opens the link.
"""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext, pgettext_lazy

from backend.accounts.addresses import address_is_verified
from backend.accounts.languages import writing_to
from backend.accounts.mail import mail_queue
from backend.accounts.members import (
    locked_organization,
    member_join,
    people_of,
    seats_taken,
)
from backend.accounts.models import Invitation, Membership, Organization, Project, Role, User
from backend.accounts.principal import Principal
from backend.accounts.roles import require_manager, require_may_give
from backend.accounts.services import clean_email
from backend.accounts.team_models import ProjectMember, ProjectRole
from backend.audit.actions import Action
from backend.audit.services import Actor, Caller, record
from backend.platform.errors import (
    Conflict,
    InvalidRequest,
    NotFound,
    Overloaded,
    PermissionDenied,
)
from backend.platform.languages import minute

DEFAULT_DAYS = 7
MAX_DAYS = 90
MAX_USES = 500
MAX_PENDING = 1000
_ROLES = {
    Role.OWNER: pgettext_lazy("role", "owner"),
    Role.ADMIN: pgettext_lazy("role", "admin"),
    Role.MEMBER: pgettext_lazy("role", "member"),
    Role.FINANCE: pgettext_lazy("role", "finance"),
    Role.VIEWER: pgettext_lazy("role", "viewer"),
}


@dataclass(frozen=True, slots=True)
class ProjectPlace:
    """Into which project an invitation leads, and as what (`owner`, `member`)."""

    project_id: UUID
    role: str


@transaction.atomic
def invitation_create(
    *,
    principal: Principal,
    role: str,
    email: str | None = None,
    days: int = DEFAULT_DAYS,
    max_uses: int = 1,
    projects: list[ProjectPlace] | None = None,
    may_mail: bool = True,
) -> tuple[Invitation, str]:
    """Mail a link to `email`, or make one to be handed on.

    Args:
        email: None for a link that anyone who has it may use, `max_uses` times.
        may_mail: False where the address has had enough mails; all else is the same.
    Returns:
        The invitation and the link's address, which nothing keeps.
    Raises:
        PermissionDenied: the caller manages no members, or is no owner and invites one.
        InvalidRequest: with `param`. NotFound: a project.
        Conflict: they are a member; there is no seat; too many invitations are open.
        Overloaded: this installation can send no mail.
    """
    require_may_give(principal, role)
    if not 1 <= days <= MAX_DAYS:
        raise InvalidRequest(f"expires_in_days is 1 to {MAX_DAYS}.", param="expires_in_days")
    if not 1 <= max_uses <= (MAX_USES if email is None else 1):
        raise InvalidRequest(
            f"max_uses is 1 to {MAX_USES} for a link, and 1 for an address.", param="max_uses"
        )
    address = "" if email is None else clean_email(email)
    organization = locked_organization(principal.organization_id)
    _require_room(organization, address)
    token = secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        organization=organization,
        email=address,
        role=role,
        projects=_places(organization, projects or []),
        token_sha256=_hash(token),
        max_uses=max_uses,
        invited_by=User.objects.get(pk=principal.user_id),
        expires_at=timezone.now() + timedelta(days=days),
    )
    _record(Action.INVITE_SENT, principal, invitation, role=role, by_link=not address)
    url = f"{settings.PUBLIC_URL}/join#{token}"  # after the #: in no server's log
    if address and may_mail:
        _mail(invitation, organization, url)
    return invitation, url


@transaction.atomic
def invitation_revoke(*, principal: Principal, invitation_id: UUID) -> None:
    """The link stops working. Raises PermissionDenied, and NotFound unless it is pending."""
    require_manager(principal)
    changed = _open(Invitation.objects.filter(organization_id=principal.organization_id)).filter(
        pk=invitation_id
    )
    invitation = changed.select_for_update().first()
    if invitation is None:
        raise NotFound(f"There is no pending invitation {invitation_id}.")
    changed.update(revoked_at=timezone.now())
    _record(Action.INVITE_DELETED, principal, invitation)


def invitation_read(*, token: str) -> Invitation:
    """What a link offers, with its organization. NotFound where it does not work (any more)."""
    found = (
        _usable(Invitation.objects.filter(token_sha256=_hash(token)))
        .select_related("organization")
        .first()
    )
    if found is None:
        raise _no_such_link()
    return found


@transaction.atomic
def invitation_accept(*, token: str, user_id: UUID) -> Membership:
    """The signed-in user becomes a member.

    Raises:
        NotFound: the link does not work (any more).
        PermissionDenied: it is for another address, or theirs is not verified.
        Conflict: they are a member already, or there is no seat.
    """
    invitation = invitation_read(token=token)
    return invitation_use(invitation_id=invitation.pk, user=User.objects.get(pk=user_id))


@transaction.atomic
def invitation_use(*, invitation_id: UUID, user: User) -> Membership:
    """As `invitation_accept`, of one that has been read."""
    found = Invitation.objects.filter(pk=invitation_id)
    organization_id = found.values_list("organization_id", flat=True).get()
    locked_organization(organization_id)
    invitation = _usable(found).first()  # as it is under the lock
    if invitation is None:
        raise _no_such_link()
    if invitation.email and (user.email != invitation.email or not address_is_verified(user)):
        raise PermissionDenied(
            "This invitation is for another e-mail address. Sign in with the account that has it.",
            code="other_address",
        )
    membership = member_join(organization_id=organization_id, user=user, role=invitation.role)
    Invitation.objects.filter(pk=invitation.pk).update(
        uses=F("uses") + 1, accepted_at=timezone.now()
    )
    _record(Action.INVITE_ACCEPTED, Actor(user_id=user.pk), invitation, role=invitation.role)
    roles = {UUID(place["id"]): place["role"] for place in invitation.projects}
    known = Project.objects.filter(organization_id=organization_id, pk__in=roles, archived_at=None)
    ProjectMember.objects.bulk_create(
        ProjectMember(project=project, membership=membership, role=roles[project.pk])
        for project in known
    )
    return membership


def invitation_of_sign_up(*, token: str | None, email: str) -> Invitation | None:
    """The one that a sign-up came with; None where it does not work: the sign-up goes on."""
    if not token:
        return None
    try:
        invitation = invitation_read(token=token)
    except NotFound:
        return None
    return invitation if invitation.email in ("", email) else None


def invitation_for_address(*, organization_id: UUID, email: str) -> Invitation | None:
    """The one that waits for an address in an organization, if one does."""
    rows = Invitation.objects.filter(organization_id=organization_id, email=email)
    return _usable(rows).first()


def pending_invitations(organization_id: UUID, *, now: datetime | None = None) -> int:
    """How many seats are promised to addresses."""
    return (
        _open(Invitation.objects.filter(organization_id=organization_id), now=now)
        .exclude(email="")
        .count()
    )


def _open(
    invitations: QuerySet[Invitation], *, now: datetime | None = None
) -> QuerySet[Invitation]:
    return invitations.filter(
        Q(uses__lt=F("max_uses")), revoked_at=None, expires_at__gt=now or timezone.now()
    )


def _usable(invitations: QuerySet[Invitation]) -> QuerySet[Invitation]:
    """Open ones whose maker may still give the role: they may be demoted, locked out or gone."""
    makers = Membership.objects.filter(
        organization=OuterRef("organization"), user=OuterRef("invited_by"), user__is_active=True
    )
    return _open(invitations).filter(
        Exists(makers.filter(role=Role.OWNER))
        | (~Q(role=Role.OWNER) & Exists(makers.filter(role=Role.ADMIN)))
    )


def _require_room(organization: Organization, address: str) -> None:
    open_ones = _open(Invitation.objects.filter(organization=organization))
    if open_ones.count() >= MAX_PENDING:
        raise Conflict(f"There are {MAX_PENDING} open invitations; revoke some first.")
    if not address:
        return
    if people_of(organization.pk).filter(user__email=address).exists():
        raise Conflict("They are a member of this organization already.", param="email")
    if open_ones.filter(email=address).exists():
        raise Conflict("They are invited already; revoke that invitation first.", param="email")
    seats = organization.plan.seats
    if (
        seats is not None
        and seats_taken(organization.pk) + pending_invitations(organization.pk) >= seats
    ):
        raise Conflict(
            f"The plan {organization.plan.name} has {seats} seats: members and invited people take"
            " all of them.",
            code="no_seats",
        )


def _places(organization: Organization, places: list[ProjectPlace]) -> list[dict[str, str]]:
    known = set(
        Project.objects.filter(organization=organization, archived_at=None).values_list(
            "pk", flat=True
        )
    )
    for place in places:
        if place.project_id not in known:
            raise NotFound(f"There is no project {place.project_id}.", param="projects")
        if place.role not in ProjectRole.values:
            raise InvalidRequest(
                f"A project's roles are {', '.join(ProjectRole.values)}.", param="projects"
            )
    return [{"id": str(place.project_id), "role": place.role} for place in places]


def _mail(invitation: Invitation, organization: Organization, url: str) -> None:
    if not (settings.EMAIL_HOST or settings.OUTBOX_TOKEN):
        raise Overloaded(
            "This installation has no mail server; make a link and hand it on.",
            code="no_mail_server",
        )
    # Nothing is known of who is invited: most speak as who invites them does.
    with writing_to(invitation.invited_by):
        mail_queue(
            to=invitation.email,
            kind="invitation",
            subject=gettext("You are invited to an organization on Parley"),
            text=gettext(
                "You are invited to join the organization “%(organization)s” on Parley as"
                " %(role)s. Open this link to join:\n\n%(link)s\n\n"
                "It works until %(until)s. If you expected no invitation, do nothing.\n"
            )
            % {
                "organization": organization.name,
                "role": _ROLES[Role(invitation.role)],
                "link": url,
                "until": minute(invitation.expires_at),
            },
        )


def _record(action: Action, actor: Caller, invitation: Invitation, **details: str | bool) -> None:
    record(
        action,
        organization_id=invitation.organization_id,
        actor=actor,
        target=("invite", invitation.pk),
        details=details,
    )


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _no_such_link() -> NotFound:
    return NotFound("This link has expired or was used already.", code="link_invalid")
