"""Legal holds: what a court or an authority wants kept is neither purged nor erased.

Every purge passes its rows through `without_held`; what would erase at somebody's wish calls
`refuse_held`, and says so.
"""

from typing import TypeVar
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.utils import timezone

from backend.accounts.models import LegalHold
from backend.platform.errors import Conflict, InvalidRequest, LegallyHeld

M = TypeVar("M", bound=Model)


def legal_hold_begin(
    *,
    reason: str,
    organization_id: UUID | None = None,
    user_id: UUID | None = None,
    by_id: UUID | None = None,
) -> LegalHold:
    """Keep everything of an organization, or of a user in all of theirs.

    Raises:
        InvalidRequest: no reason. Conflict: it is held already.
    """
    reason = " ".join(reason.split())
    if not 3 <= len(reason) <= 500:
        raise InvalidRequest("Give a reason of 3 to 500 characters.", param="reason")
    try:
        with transaction.atomic():
            return LegalHold.objects.create(
                organization_id=organization_id, user_id=user_id, reason=reason, began_by_id=by_id
            )
    except IntegrityError as error:
        raise Conflict("There is a legal hold on it already.", code="already_held") from error


def legal_hold_end(*, hold: LegalHold, by_id: UUID | None = None) -> None:
    """What is due is purged by the next run. Raises Conflict: it has ended."""
    ended = LegalHold.objects.filter(pk=hold.pk, ended_at=None).update(
        ended_at=timezone.now(), ended_by_id=by_id
    )
    if not ended:
        raise Conflict("This legal hold has ended already.", code="not_held")


def without_held(
    rows: QuerySet[M], *, organization: str | None = None, user: str | None = None
) -> QuerySet[M]:
    """`rows` without those that a legal hold keeps.

    Args:
        organization, user: the field of either id, where the rows have it.
    """
    holds = LegalHold.objects.filter(ended_at=None)
    # Asked of each row that is due, so that an index finds these: a list of all held rows would be
    # made of the whole table.
    if organization is not None:
        rows = rows.filter(~Exists(holds.filter(organization_id=OuterRef(organization))))
    if user is not None:
        rows = rows.filter(~Exists(holds.filter(user_id=OuterRef(user))))
    return rows


def refuse_held(*, organization_id: UUID | None = None, user_id: UUID | None = None) -> None:
    """Raises LegallyHeld where there is a hold on either."""
    held = Q(pk__in=[])
    if organization_id is not None:
        held |= Q(organization_id=organization_id)
    if user_id is not None:
        held |= Q(user_id=user_id)
    if LegalHold.objects.filter(held, ended_at=None).exists():
        raise LegallyHeld(
            "A legal hold keeps this data: it cannot be erased before the hold ends."
            " Ask the operator of this installation."
        )
