"""What a request, the end of an answer and /api/billing read does not grow with the month."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from backend.accounts.principal import Principal
from billing.bench_month import MODEL, customer_with_everything, month_fill, prices_by_volume
from billing.budgets.credit import credit_state
from billing.budgets.limits import load_limits
from billing.budgets.selectors import budgets_list
from billing.budgets.spending import rebuild_counters
from billing.prices.loading import load_book
from billing.services import earlier_this_month
from tests.billing import factories

NOON = datetime(2026, 10, 20, 12, tzinfo=UTC)
HOURS = 24
FEW, MANY = 1_500, 12_000

_ROWS_READ = """
SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint FROM pg_stat_xact_user_tables
WHERE relname LIKE 'billing\\_usage%%' OR relname = 'billing_unaggregatedusage'
"""


def _rows_read(read: Callable[[], object]) -> int:
    def total() -> int:
        with connection.cursor() as cursor:
            cursor.execute(_ROWS_READ)
            return int(cursor.fetchone()[0] or 0)

    before = total()
    read()
    return total() - before


def _reads(caller: Principal) -> dict[str, Callable[[], object]]:
    limits = load_limits(caller.organization_id)
    facts = factories.facts(caller, occurred_at=NOON, model=MODEL)
    book = load_book()
    return {
        "an admission that finds its counters too old": lambda: rebuild_counters(
            limits, limits.limits, at=NOON
        ),
        "the end of an answer": lambda: earlier_this_month(facts=facts, book=book),
        "credit on /api/billing": lambda: credit_state(caller.organization_id, at=NOON),
        "budgets": lambda: budgets_list(principal=caller),
    }


@pytest.mark.django_db
def test_rows_read_do_not_grow_with_the_month():
    factories.organization_new()  # with it the plan
    prices_by_volume()
    few, many = (customer_with_everything(name) for name in ("few", "many"))
    for caller, records in ((few, FEW), (many, MANY)):
        month_fill(caller, records=records, start=NOON - timedelta(hours=HOURS), end=NOON)
    rows = {name: _rows_read(read) for name, read in _reads(few).items()}
    grown = {name: _rows_read(read) for name, read in _reads(many).items()}
    assert all(count < rows[name] + 5 * HOURS for name, count in grown.items()), (rows, grown)
