"""A month that is closed in batches: interrupted anywhere, it ends as one that was not."""

from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from backend.platform.errors import Conflict
from billing.budgets.credit import credit_state
from billing.currency_change import currency_change_check
from billing.invoices import closing
from billing.invoices.selectors import invoices_list
from billing.invoices.services import close_and_issue_month
from billing.models import Invoice, InvoiceStatus, UsageRecord
from billing.prices.services import prices_seed
from tests.billing import factories
from tests.billing.invoicing import NOW, OCTOBER, PRICES, close, give_credit, use

pytestmark = pytest.mark.django_db
RECORDS = 5


class Killed(Exception):
    """Stands for the end of the process between two transactions."""


@pytest.fixture
def caller(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(closing, "BATCH", 2)
    prices_seed(prices=PRICES)
    caller = factories.principal()
    for day in range(1, RECORDS + 1):
        use(caller, 100 * day, day=day)
    return caller


def close_until_killed(caller: Any, monkeypatch: pytest.MonkeyPatch, *, after: int) -> None:
    """Close the month, and die after so many batches."""
    take = closing._take_batch
    taken: list[Invoice] = []

    def count(invoice: Invoice) -> int:
        if len(taken) == after:
            raise Killed
        taken.append(invoice)
        return take(invoice)

    with monkeypatch.context() as patched:
        patched.setattr(closing, "_take_batch", count)
        with pytest.raises(Killed):
            close(caller)


@pytest.mark.parametrize("after", range(4))
def test_interrupted_close_goes_on(
    caller: Any, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    close_until_killed(caller, monkeypatch, after=after)
    begun = Invoice.objects.get()
    assert begun.status == InvoiceStatus.CLOSING
    use(caller, 100, day=20)  # arrives meanwhile, and belongs to the month
    invoice = close(caller)
    assert (invoice.pk, invoice.status) == (begun.pk, InvoiceStatus.DRAFT)
    assert invoice.subtotal == Decimal("8.00")
    assert not UsageRecord.objects.exclude(invoice=invoice).exists()
    assert close(caller) == invoice


def test_usage_of_a_closing_month_counts_as_waiting(
    caller: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_credit(caller, 100)
    before = credit_state(caller.organization_id, at=NOW)
    assert before.remaining == Decimal("92.50")
    close_until_killed(caller, monkeypatch, after=2)
    assert UsageRecord.objects.filter(invoice__isnull=False).count() == 4
    assert credit_state(caller.organization_id, at=NOW) == before
    assert invoices_list(principal=caller).items == []
    with pytest.raises(Conflict, match="usage that is on no invoice"):
        currency_change_check(organization_id=caller.organization_id, currency="EUR")
    close(caller)
    assert credit_state(caller.organization_id, at=NOW) == before


def test_nightly_run_ends_an_interrupted_close(
    caller: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    close_until_killed(caller, monkeypatch, after=3)
    assert not UsageRecord.objects.filter(invoice=None).exists()
    assert close_and_issue_month(month=OCTOBER, now=NOW) == (1, [])
    assert Invoice.objects.get().status == InvoiceStatus.OPEN


def test_drafted_invoice_does_not_close_again(caller: Any) -> None:
    invoice = close(caller)
    with pytest.raises(IntegrityError, match="immutable"), transaction.atomic():
        Invoice.objects.filter(pk=invoice.pk).update(status=InvoiceStatus.CLOSING)


def test_batches_take_the_month_and_nothing_later(caller: Any) -> None:
    use(caller, 1, month=11)
    invoice = closing._begin(caller.organization_id, OCTOBER)
    assert invoice is not None
    assert [closing._take_batch(invoice) for _ in range(4)] == [2, 2, 1, 0]
