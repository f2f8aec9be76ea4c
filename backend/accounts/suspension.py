"""Suspending an organization: nothing of it is served until it is reinstated.

From the commit on its keys and sessions are refused, with `organization_suspended`; what is open
ends within seconds (streams and WebSockets by backend/api/access_watch.py, running generations by
generation/recovery/ended_access.py), its webhooks wait and its public links lead nowhere. Its data
stays, and its members still reach their account, their data rights and their invoices.

Causes are independent: paying an invoice does not lift what an operator has decided.
"""

from collections.abc import Iterable
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_noop

from backend.accounts import key_cache
from backend.accounts.languages import writing_to
from backend.accounts.mail import mail_queue
from backend.accounts.models import APIKey, Organization, Role, User
from backend.accounts.operator_models import Suspension, SuspensionCause
from backend.audit.actions import Action
from backend.audit.services import SYSTEM, record, staff
from backend.platform.errors import Conflict, InvalidRequest, NotFound, OrganizationSuspended

_REASON_MAX = 300


@transaction.atomic
def suspend_organization(
    *,
    organization_id: UUID,
    reason: str | Promise,
    cause: str = SuspensionCause.OPERATOR,
    by_id: UUID | None = None,
) -> Suspension:
    """Stop serving an organization, from the commit on; its owners get a mail.

    Args:
        reason: 3 to 300 characters, which the customer reads; a lazy translation is kept in
            English, and mailed in each owner's language.
        by_id: the member of staff; None for the product itself.
    Raises:
        NotFound: no such organization. InvalidRequest: `reason`.
        Conflict: it is suspended for this cause already.
    """
    as_given, reason = reason, " ".join(str(reason).split())
    if not 3 <= len(reason) <= _REASON_MAX:
        raise InvalidRequest(f"Give a reason of 3 to {_REASON_MAX} characters.", param="reason")
    organization = _locked(organization_id)
    if organization.suspensions.filter(cause=cause, ended_at=None).exists():
        raise Conflict(f"{organization.name} is suspended already.", code="already_suspended")
    suspension = Suspension.objects.create(
        organization=organization, cause=cause, reason=reason, began_by_id=by_id
    )
    if organization.suspended_at is None:
        organization.suspended_at = timezone.now()
        organization.save(update_fields=["suspended_at"])
    _refuse_keys_from_the_commit_on(organization_id, reason)
    _record(Action.ORGANIZATION_SUSPENDED, organization_id, by_id, cause=cause, reason=reason)
    _tell_owners(
        organization,
        subject=gettext_noop("%(organization)s is suspended"),
        text=gettext_noop(
            "%(organization)s is suspended: %(reason)s\n\nIts API keys are refused and its"
            " members cannot chat until it is reinstated. Its data stays.\n"
        ),
        reason=as_given,
    )
    return suspension


@transaction.atomic
def reinstate_organization(
    *,
    organization_id: UUID,
    cause: str = SuspensionCause.OPERATOR,
    reason: str = "",
    by_id: UUID | None = None,
) -> bool:
    """End the suspension of one cause.

    Returns:
        Whether the organization is served again; False while another cause suspends it.
    Raises:
        NotFound: no such organization. Conflict: it is not suspended for this cause.
    """
    organization = _locked(organization_id)
    ended = organization.suspensions.filter(cause=cause, ended_at=None).update(
        ended_at=timezone.now(), ended_by_id=by_id, end_reason=reason[:_REASON_MAX]
    )
    if not ended:
        raise Conflict(f"{organization.name} is not suspended.", code="not_suspended")
    _record(Action.ORGANIZATION_REINSTATED, organization_id, by_id, cause=cause)
    if organization.suspensions.filter(ended_at=None).exists():
        return False
    organization.suspended_at = None
    organization.save(update_fields=["suspended_at"])
    hashes = _key_hashes(organization_id)
    transaction.on_commit(lambda: key_cache.suspensions_forget(hashes), robust=True)
    _tell_owners(
        organization,
        subject=gettext_noop("%(organization)s is reinstated"),
        text=gettext_noop("%(organization)s is served again.\n"),
    )
    return True


def _record(action: Action, organization_id: UUID, by_id: UUID | None, **details: str) -> None:
    record(
        action,
        organization_id=organization_id,
        actor=staff(by_id) if by_id else SYSTEM,
        target=("organization", organization_id),
        details=details,
    )


def suspension_of(*, organization_id: UUID) -> Suspension | None:
    """The oldest open suspension, which is the one that customers are told of."""
    return (
        Suspension.objects.filter(organization_id=organization_id, ended_at=None)
        .order_by("began_at")
        .first()
    )


def suspension_reasons(organization_ids: Iterable[UUID]) -> dict[UUID, str]:
    """Why each of these is suspended; one that is not is left out."""
    rows = Suspension.objects.filter(organization_id__in=set(organization_ids), ended_at=None)
    found = rows.order_by("-began_at").values_list("organization_id", "reason")
    return dict(found)  # the oldest comes last, and counts


def refuse_suspended(organization: Organization) -> None:
    """Raises OrganizationSuspended with its reason."""
    if organization.suspended_at is None:
        return
    found = suspension_of(organization_id=organization.pk)
    raise suspended(found.reason if found else "")


def suspended(reason: str) -> OrganizationSuspended:
    return OrganizationSuspended(
        "This organization is suspended"
        + (f": {reason.rstrip('.')}. " if reason else ". ")
        + "Ask the operator of this installation."
    )


def _locked(organization_id: UUID) -> Organization:
    organization = Organization.objects.select_for_update().filter(pk=organization_id).first()
    if organization is None:
        raise NotFound(f"There is no organization {organization_id}.")
    return organization


def _key_hashes(organization_id: UUID) -> list[str]:
    keys = APIKey.objects.filter(organization_id=organization_id, revoked_at=None)
    return list(keys.values_list("sha256", flat=True))


def _refuse_keys_from_the_commit_on(organization_id: UUID, reason: str) -> None:
    """As for revoked keys: without Redis there is no cached principal to be refused either."""
    hashes = _key_hashes(organization_id)
    transaction.on_commit(lambda: key_cache.suspensions_write(hashes, reason), robust=True)


def _tell_owners(
    organization: Organization, *, subject: str, text: str, reason: str | Promise = ""
) -> None:
    """`subject` and `text` are messages of the catalogues, with their placeholders."""
    owners = User.objects.filter(
        memberships__organization=organization, memberships__role=Role.OWNER, is_active=True
    )
    for owner in owners:
        with writing_to(owner):
            names = {"organization": organization.name, "reason": reason}
            mail_queue(
                to=owner.email,
                kind="suspension",
                subject=gettext(subject) % names,
                text=gettext(text) % names,
            )
