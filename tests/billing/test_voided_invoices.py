"""Voiding an invoice frees what it billed, and gives its credit back, once."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from backend.platform.errors import Conflict
from billing.budgets.credit import credit_state
from billing.budgets.credit_services import expire_grants
from billing.invoices.services import (
    close_and_issue_month,
    credit_note_create,
    invoice_void,
)
from billing.models import CreditEntry, Invoice, UsageRecord
from billing.prices import Tier
from billing.prices.services import BEGINNING, prices_seed, prices_set
from billing.quantities import Kind
from tests.billing import factories
from tests.billing.invoicing import NOVEMBER, NOW, OCTOBER, PRICES, close, give_credit, issue, use

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller():
    prices_seed(prices=PRICES)
    return factories.principal()


def test_voiding_frees_the_usage_so_that_the_month_is_billed_again(caller):
    use(caller, 1000)
    wrong = issue(caller)
    invoice_void(invoice_id=wrong.pk, now=NOW)
    assert UsageRecord.objects.get().invoice_id is None
    right = issue(caller)
    assert right.pk != wrong.pk
    assert (right.number, right.total) == (2, wrong.total)
    assert UsageRecord.objects.get().invoice_id == right.pk
    assert close(caller).pk == right.pk
    assert [line.output_tokens for line in wrong.lines.all()] == [1000]


def test_voided_month_is_billed_again_by_the_next_run(caller):
    use(caller, 1000)
    invoice_void(invoice_id=issue(caller).pk, now=NOW)
    assert close_and_issue_month(month=OCTOBER, now=NOW) == (1, [])
    assert close_and_issue_month(month=OCTOBER, now=NOW) == (0, [])


def credit_left(caller) -> Decimal:
    """By the credit ledger alone."""
    entries = CreditEntry.objects.filter(organization_id=caller.organization_id)
    return sum((entry.amount for entry in entries), Decimal(0))


def test_voiding_gives_the_credit_back_once(caller):
    give_credit(caller, 3)
    use(caller, 1000)  # 5.00
    wrong = issue(caller)
    assert (wrong.credit_applied, credit_left(caller)) == (3, 0)
    invoice_void(invoice_id=wrong.pk, now=NOW)
    assert credit_left(caller) == 3
    assert credit_state(caller.organization_id, at=NOW).remaining == 0  # the usage waits for it
    with pytest.raises(Conflict, match="void"):
        invoice_void(invoice_id=wrong.pk, now=NOW)
    right = issue(caller)
    assert (right.credit_applied, right.total, credit_left(caller)) == (3, 2, 0)


def test_invoice_that_credit_paid_in_full_can_be_voided(caller):
    give_credit(caller, 30)
    use(caller, 1000)
    invoice = issue(caller)
    assert (invoice.status, invoice.total) == ("paid", 0)
    invoice_void(invoice_id=invoice.pk, now=NOW)
    assert credit_left(caller) == 30
    assert issue(caller).credit_applied == 5


def test_credit_given_back_after_its_expiry_covers_the_usage_before_it(caller):
    expires_at = datetime.now(UTC) + timedelta(days=1)
    later = expires_at + timedelta(days=30)
    give_credit(caller, 8, expires_at=expires_at)
    use(caller, 1000)
    wrong = issue(caller)
    assert expire_grants(caller.organization_id, now=later) == 1
    invoice_void(invoice_id=wrong.pk, now=NOW)
    assert expire_grants(caller.organization_id, now=later) == 0  # its usage waits for it again
    assert issue(caller).credit_applied == 5
    assert credit_left(caller) == 0


def test_invoice_with_credit_notes_cannot_be_voided(caller):
    use(caller, 1000)
    invoice = issue(caller)
    credit_note_create(invoice_id=invoice.pk, amount=Decimal(1), reason="outage", now=NOW)
    with pytest.raises(Conflict, match="credit note"):
        invoice_void(invoice_id=invoice.pk, now=NOW)
    assert Invoice.objects.get(pk=invoice.pk).status == "open"


def test_credit_note_cannot_be_voided(caller):
    use(caller, 1000)
    note = credit_note_create(
        invoice_id=issue(caller).pk, amount=Decimal(1), reason="outage", now=NOW
    )
    with pytest.raises(Conflict):
        invoice_void(invoice_id=note.pk, now=NOW)


def test_invoice_is_voided_after_those_whose_tiers_build_on_it():
    tiers = (Tier(0, Decimal(10)), Tier(100, Decimal(1)))
    prices_set(
        model=factories.MODEL,
        prices={Kind.INPUT: tiers, Kind.OUTPUT: tiers},
        effective_from=BEGINNING,
    )
    caller = factories.principal()
    use(caller, 90, day=20)
    first = issue(caller)
    use(caller, 90, day=2)
    late = issue(caller, NOVEMBER)
    with pytest.raises(Conflict, match=str(late)):
        invoice_void(invoice_id=first.pk, now=NOW)
    for invoice in (late, first):
        invoice_void(invoice_id=invoice.pk, now=NOW)
    again = issue(caller)
    assert sum(line.amount for line in again.lines.all()) == Decimal("1.00") + Decimal("0.08")
