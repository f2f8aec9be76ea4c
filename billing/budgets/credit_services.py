"""Writes to the credit ledger: grants, expiries, what was taken back of payments. Debits are the
monthly close's."""

from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

from django.db import transaction

from backend.platform.database import transaction_lock
from backend.platform.errors import InvalidRequest
from backend.platform.redis import sync_client
from billing import ledger
from billing.accounts import terms_of
from billing.budgets.counters import CREDIT, Counter
from billing.budgets.credit import open_grants
from billing.budgets.limits import clear_limits_cache
from billing.models import CreditEntry, CreditKind


@transaction.atomic
def credit_grant(
    *,
    organization_id: UUID,
    amount: Decimal,
    expires_at: datetime | None = None,
    note: str = "",
    by_user_id: UUID | None = None,
    currency: str | None = None,
) -> CreditEntry:
    """Give an organization credit.

    Args:
        currency: None: the organization's. Credit in another one waits until it pays in that.
    Raises:
        InvalidRequest: not a positive amount of whole cents, or expired already.
    """
    credit_check(amount=amount, expires_at=expires_at)
    lock_credit(organization_id)
    entry = CreditEntry.objects.create(
        organization_id=organization_id,
        kind=CreditKind.GRANT,
        amount=amount,
        currency=currency or terms_of(organization_id).currency,
        expires_at=expires_at,
        note=note,
        created_by_id=by_user_id,
    )
    transaction.on_commit(lambda: clear_credit_cache(organization_id))
    return entry


def credit_check(*, amount: Decimal, expires_at: datetime | None) -> None:
    """What `credit_grant` would refuse, it refuses; nothing is written. For forms."""
    if not amount.is_finite() or amount <= 0 or amount != amount.quantize(Decimal("0.01")):
        raise InvalidRequest("A grant must be a positive amount of whole cents.", param="amount")
    if expires_at is not None and expires_at <= datetime.now(UTC):
        raise InvalidRequest("A grant must expire in the future.", param="expires_at")


def expire_grants(organization_id: UUID, *, now: datetime) -> int:
    """Write off what is left of expired grants, as far as invoices have been closed.

    Usage before the expiry may still draw on the grant when its month is closed, so a grant is
    written off only once no such usage waits. Returns how many were.
    """
    with transaction.atomic():
        lock_credit(organization_id)
        count = 0
        for grant in open_grants(organization_id):
            if grant.expires_at is None or grant.expires_at > now:
                continue
            waiting = ledger.not_invoiced(organization_id).filter(occurred_at__lt=grant.expires_at)
            if waiting.exists():
                continue
            CreditEntry.objects.create(
                organization_id=organization_id,
                kind=CreditKind.EXPIRY,
                amount=-grant.remaining,
                currency=terms_of(organization_id).currency,
                grant_id=grant.id,
                note="expired",
            )
            count += 1
        transaction.on_commit(lambda: clear_credit_cache(organization_id))
    return count


def credit_correct(*, grant: CreditEntry, amount: Decimal, note: str) -> CreditEntry:
    """Take back what was paid for a grant (`amount` below zero), or restore it. Call it in a
    transaction; what was spent of the grant already becomes a debt."""
    lock_credit(grant.organization_id)
    entry = CreditEntry.objects.create(
        organization_id=grant.organization_id,
        kind=CreditKind.REFUND if amount < 0 else CreditKind.RESTORED,
        amount=amount,
        currency=grant.currency,
        grant=grant,
        note=note,
    )
    transaction.on_commit(lambda: clear_credit_cache(grant.organization_id))
    return entry


def lock_credit(organization_id: UUID) -> None:
    """One writer of an organization's credit ledger at a time, until the transaction ends."""
    transaction_lock(f"billing.credit.{organization_id}")


def clear_credit_cache(organization_id: UUID) -> None:
    """What is left is computed anew by the next request; called where it was changed."""
    currency = terms_of(organization_id).currency
    sync_client().delete(Counter(organization_id, currency, CREDIT, None).keys[0])
    clear_limits_cache(organization_id)
