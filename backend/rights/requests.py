"""Asking for a copy or for the erasure of data, and what either does at once.

An erasure locks the subject out in the transaction that asks for it: sessions, keys and memberships
end with the commit. The rest is the queue's (jobs.py), within minutes.
"""

from datetime import timedelta
from secrets import token_urlsafe
from uuid import UUID

from celery import current_app
from django.core.cache import cache
from django.core.signing import BadSignature
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from backend.accounts.addresses import address_lock
from backend.accounts.deletion import user_delete
from backend.accounts.languages import language_of
from backend.accounts.legal_hold import refuse_held
from backend.accounts.models import Membership, Organization, Role, ServiceAccount, User
from backend.accounts.principal import Principal
from backend.accounts.services import api_key_end, organization_create
from backend.audit.actions import Action
from backend.audit.services import Actor, record, staff
from backend.platform.encryption import token_read, token_sign
from backend.platform.errors import Conflict, NotFound, PermissionDenied
from backend.platform.keys import Purpose
from backend.rights.erasure import counts_of
from backend.rights.models import UNFINISHED, DataExport, Erasure, JobState, SubjectKind
from backend.rights.registry import TABLES
from backend.rights.subject import Subject

DOWNLOAD_LINK_S = 600
EXPORT_EVERY = timedelta(hours=1)
AT_ONCE = (
    "accounts.Membership",
    "account.EmailConfirmation",
    "account.EmailAddress",
    "mfa.Authenticator",
    "usersessions.UserSession",
    "accounts.PendingAddress",
    "accounts.Invitation",
    "accounts.PendingSignUp",
    "accounts.Mail",
)
"""Tables whose rows go in the transaction that asks for an erasure. Of the last three a user's are
found by the address, which is somebody else's to use from then on."""


@transaction.atomic
def export_request(*, principal: Principal, whole_organization: bool = False) -> DataExport:
    """Queue a copy of the caller's data, or as owner of the organization's.

    Raises:
        PermissionDenied: the organization's, for others than owners.
        Conflict: one is under way, or the last one is not an hour old.
    """
    if whole_organization and principal.role != Role.OWNER:
        raise PermissionDenied("Only owners export an organization's data.")
    kind = SubjectKind.ORGANIZATION if whole_organization else SubjectKind.USER
    subject_id = principal.organization_id if whole_organization else principal.user_id
    mine = DataExport.objects.filter(kind=kind, subject_id=subject_id)
    if mine.filter(state__in=UNFINISHED).exists():
        raise Conflict("An export is being made already.", code="export_under_way")
    if mine.filter(created_at__gt=timezone.now() - EXPORT_EVERY, state=JobState.DONE).exists():
        raise Conflict("There is an export of the last hour; download it.", code="export_recent")
    try:
        with transaction.atomic():
            export = DataExport.objects.create(
                kind=kind, subject_id=subject_id, requested_by_id=principal.user_id
            )
    except IntegrityError as error:
        raise Conflict("An export is being made already.", code="export_under_way") from error
    record(
        Action.EXPORT_REQUESTED,
        organization_id=principal.organization_id,
        actor=principal,
        target=("data_export", export.pk),
        details={"scope": kind},
    )
    _wake_worker("run_exports")
    return export


def exports_of(principal: Principal) -> QuerySet[DataExport]:
    """One's own, and as owner the organization's; newest first."""
    own = DataExport.objects.filter(kind=SubjectKind.USER, subject_id=principal.user_id)
    if principal.role == Role.OWNER:
        own = own | DataExport.objects.filter(
            kind=SubjectKind.ORGANIZATION, subject_id=principal.organization_id
        )
    return own.order_by("-created_at", "-pk")


def export_link(*, principal: Principal, export_id: UUID) -> str:
    """A token that downloads one of `exports_of`, once, for ten minutes and without a session.

    Raises NotFound: there is none, it is not done, or it has expired.
    """
    export = _downloadable(exports_of(principal)).filter(pk=export_id).first()
    if export is None:
        raise NotFound(f"There is no export {export_id} to download.")
    record(
        Action.EXPORT_DOWNLOADED,
        organization_id=principal.organization_id,
        actor=principal,
        target=("data_export", export.pk),
    )
    return token_sign([str(export.pk), token_urlsafe(16)], purpose=Purpose.DATA_DOWNLOAD)


def export_by_token(token: str) -> DataExport:
    """Use a link up: proxies write what stands in an address into their logs.

    Raises NotFound: it is too old, was used or is no link, or what it leads to is gone.
    """
    try:
        export_id, nonce = token_read(
            token, purpose=Purpose.DATA_DOWNLOAD, max_age_s=DOWNLOAD_LINK_S
        )
        export_id = UUID(export_id)
    except (BadSignature, ValueError, TypeError, AttributeError):
        raise _no_such_link() from None
    export = _downloadable(DataExport.objects.all()).filter(pk=export_id).first()
    # A second longer than the link: it lapses first.
    if export is None or not cache.add(f"export-link:{nonce}", 1, timeout=DOWNLOAD_LINK_S + 1):
        raise _no_such_link()
    return export


@transaction.atomic
def user_erase(*, user_id: UUID, reason: str = "", by_id: UUID | None = None) -> Erasure:
    """Lock a user out, and queue the erasure of everything that is theirs.

    Organizations in which they are alone go with them.

    Args:
        by_id: the member of staff who does it; None: the user themselves.
    Raises:
        NotFound: the account is gone. LegallyHeld.
        Conflict: they are the only owner of an organization with other members.
    """
    user = User.objects.select_for_update().filter(pk=user_id, is_active=True).first()
    if user is None:
        raise NotFound("This account does not exist any more.")
    refuse_held(user_id=user_id)
    address_lock(user.email)
    alone = _organizations_alone(user)
    for organization in alone:
        refuse_held(organization_id=organization.pk)
    place = Membership.objects.filter(user=user).values_list("organization_id", flat=True).first()
    subject = Subject(SubjectKind.USER, user_id, user.email)
    erasure = _begin(subject, reason, by_id or user_id, user)
    _record_request(erasure, place, staff(by_id) if by_id else Actor(user_id=user_id))
    for key in user.api_keys.filter(revoked_at=None):
        api_key_end(key=key)
    for table in TABLES:
        if table.email is not None and (named := table.rows(subject)) is not None:
            named.delete()
    user_delete(user_id=user_id)
    for organization in alone:
        _erase_organization(organization, "Its only member was erased.", by_id or user_id, None)
    _wake_worker("run_erasures")
    return erasure


@transaction.atomic
def organization_erase(
    *,
    organization_id: UUID,
    reason: str = "",
    by_id: UUID | None = None,
    notify: User | None = None,
) -> Erasure:
    """End an organization for all of its members, and queue the erasure of all that it owns.

    Its members keep their accounts; who has no other organization gets a new, empty one.

    Raises:
        NotFound: no such organization. LegallyHeld. Conflict: it is being erased.
    """
    organization = Organization.objects.select_for_update().filter(pk=organization_id).first()
    if organization is None:
        raise NotFound(f"There is no organization {organization_id}.")
    refuse_held(organization_id=organization_id)
    erasure = _erase_organization(organization, reason, by_id, notify)
    _record_request(erasure, organization_id, Actor(user_id=by_id))
    _wake_worker("run_erasures")
    return erasure


def own_organization_erase(*, principal: Principal, reason: str = "") -> Erasure:
    """The same, by an owner. Raises PermissionDenied for others."""
    if principal.role != Role.OWNER:
        raise PermissionDenied("Only owners erase an organization.")
    return organization_erase(
        organization_id=principal.organization_id,
        reason=reason,
        by_id=principal.user_id,
        notify=User.objects.get(pk=principal.user_id),
    )


def _organizations_alone(user: User) -> list[Organization]:
    others = Membership.objects.exclude(user=user).values("organization_id")
    return list(
        Organization.objects.filter(memberships__user=user).exclude(pk__in=others).order_by("pk")
    )


def _erase_organization(
    organization: Organization, reason: str, by_id: UUID | None, notify: User | None
) -> Erasure:
    programs = User.objects.filter(
        pk__in=ServiceAccount.objects.filter(project__organization=organization).values("user_id")
    )
    programs.update(is_active=False)
    members = list(User.objects.filter(memberships__organization=organization, is_active=True))
    erasure = _begin(Subject(SubjectKind.ORGANIZATION, organization.pk), reason, by_id, notify)
    for key in organization.api_keys.filter(revoked_at=None):
        api_key_end(key=key)
    Membership.objects.filter(organization=organization).delete()
    for member in members:
        if not member.memberships.exists():
            organization_create(owner=member, name=f"{member.get_short_name()}'s organization")
    return erasure


def _begin(subject: Subject, reason: str, by_id: UUID | None, notify: User | None) -> Erasure:
    done = {label: count for label, count in counts_of(subject).items() if label in AT_ONCE}
    try:
        with transaction.atomic():
            return Erasure.objects.create(
                kind=subject.kind,
                subject_id=subject.id,
                requested_by_id=by_id,
                reason=reason[:300],
                notify=notify.email if notify else "",
                language=language_of(notify),
                progress={"at_once": done},
            )
    except IntegrityError as error:
        raise Conflict("It is being erased already.", code="erasure_under_way") from error


def _record_request(erasure: Erasure, organization_id: UUID | None, actor: Actor) -> None:
    record(
        Action.ERASURE_REQUESTED,
        organization_id=organization_id,
        actor=actor,
        target=(erasure.kind, erasure.subject_id),
        details={"erasure": str(erasure.pk)},
    )


def _downloadable(exports: QuerySet[DataExport]) -> QuerySet[DataExport]:
    return exports.filter(state=JobState.DONE, expires_at__gt=timezone.now())


def _no_such_link() -> NotFound:
    return NotFound("This link has expired; the page gives a new one.", code="link_invalid")


def _wake_worker(task: str) -> None:
    """`robust`: without Redis, beat's next run finds the job."""
    transaction.on_commit(
        lambda: current_app.send_task(f"backend.rights.tasks.{task}"), robust=True
    )
