"""Usage, invoices and credit of the tests of invoices."""

from datetime import UTC, datetime
from decimal import Decimal

from django.db import connection, transaction

from billing.budgets.credit_services import credit_grant
from billing.invoices.closing import invoice_close
from billing.invoices.services import (
    invoice_issue,
)
from billing.models import Invoice
from billing.periods import month_of
from billing.services import usage_record_create
from tests.billing import factories

OCTOBER = month_of(datetime(2026, 10, 1, tzinfo=UTC))
NOVEMBER = month_of(datetime(2026, 11, 1, tzinfo=UTC))
NOW = datetime(2026, 12, 3, tzinfo=UTC)
# 0.005 a token: two tokens are a cent, one is half of one.
PRICES = {factories.MODEL: {"input": "5", "cached_input": "5", "output": "5"}}


def use(caller, tokens: int, day: int = 5, month: int = 10, **changes) -> None:
    with transaction.atomic():
        usage_record_create(
            facts=factories.facts(
                caller,
                occurred_at=datetime(2026, month, day, 12, tzinfo=UTC),
                input_tokens=0,
                cached_input_tokens=0,
                output_tokens=tokens,
                **changes,
            )
        )


def close(caller, month=OCTOBER) -> Invoice:
    invoice = invoice_close(organization_id=caller.organization_id, month=month, now=NOW)
    assert invoice is not None
    return invoice


def issue(caller, month=OCTOBER) -> Invoice:
    return invoice_issue(invoice_id=close(caller, month).pk, now=NOW)


def give_credit(caller, amount: int, **terms) -> None:
    """Credit that was granted before the usage of these tests."""
    credit_grant(organization_id=caller.organization_id, amount=Decimal(amount), **terms)
    settle_constraints = "SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED"
    with connection.cursor() as cursor:
        cursor.execute(settle_constraints)
        cursor.execute("ALTER TABLE billing_creditentry DISABLE TRIGGER append_only")
        cursor.execute("UPDATE billing_creditentry SET created_at = '2026-09-01T00:00Z'")
        cursor.execute(settle_constraints)
        cursor.execute("ALTER TABLE billing_creditentry ENABLE TRIGGER append_only")
