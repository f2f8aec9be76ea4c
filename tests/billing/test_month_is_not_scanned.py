"""What a request, the end of an answer and /api/billing read does not grow with the month."""

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.db import connection

from backend.accounts.principal import Principal
from billing.budgets.credit import credit_state
from billing.budgets.credit_services import credit_grant
from billing.budgets.limits import load_limits
from billing.budgets.selectors import budgets_list
from billing.budgets.services import budget_set
from billing.budgets.spending import rebuild_counters
from billing.models import BillingAccount, Price
from billing.prices.loading import clear_price_cache, load_book
from billing.prices.services import BEGINNING
from billing.quantities import Kind
from billing.services import usage_cost
from tests.billing import factories

NOON = datetime(2026, 10, 20, 12, tzinfo=UTC)
HOURS = 24
FEW, MANY = 48, 4_800

_RECORDS = """
INSERT INTO billing_usagerecord (
    generation_id, occurred_at, recorded_at, organization_id, project_id, user_id, key_id, model,
    pool, input_tokens, cached_input_tokens, output_tokens, state, duration_ms, client_hash
)
SELECT gen_random_uuid(), moment, moment, %s, %s, %s, NULL, %s, 'pool', 100, 0, 50, 'completed',
    900, ''
FROM generate_series(1, %s) AS number,
    LATERAL (SELECT %s::timestamptz - (number %% %s) * interval '1 hour' AS moment) AS at
"""
_AGGREGATED = """
WITH taken AS (DELETE FROM billing_unaggregatedusage RETURNING generation_id),
records AS (SELECT record.* FROM billing_usagerecord AS record JOIN taken USING (generation_id)),
stored AS (
    INSERT INTO billing_usageevent (
        event_id, occurred_at, organization_id, project_id, user_id, key_id, model, pool,
        input_tokens, cached_input_tokens, output_tokens, state, duration_ms, client_hash
    )
    SELECT generation_id, occurred_at, organization_id, project_id, user_id, key_id, model, pool,
        input_tokens, cached_input_tokens, output_tokens, state, duration_ms, client_hash
    FROM records
)
INSERT INTO billing_usagerollup AS rollup (
    hour, organization_id, project_id, user_id, key_id, model, requests, input_tokens,
    cached_input_tokens, output_tokens
)
SELECT date_trunc('hour', occurred_at, 'UTC'), organization_id, project_id, user_id, key_id, model,
    count(*), sum(input_tokens), sum(cached_input_tokens), sum(output_tokens)
FROM records GROUP BY 1, 2, 3, 4, 5, 6
ON CONFLICT (hour, organization_id, project_id, user_id, key_id, model) DO UPDATE SET
    requests = rollup.requests + excluded.requests,
    input_tokens = rollup.input_tokens + excluded.input_tokens,
    output_tokens = rollup.output_tokens + excluded.output_tokens
"""
_ROWS_READ = """
SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint FROM pg_stat_xact_user_tables
WHERE relname LIKE 'billing\\_usage%%' OR relname = 'billing_unaggregatedusage'
"""


def _fill(caller: Principal, records: int) -> None:
    """So many aggregated records of one day."""
    with connection.cursor() as cursor:
        cursor.execute(
            _RECORDS,
            [
                caller.organization_id,
                caller.project_id,
                caller.user_id,
                factories.MODEL,
                records,
                NOON,
                HOURS,
            ],
        )
        cursor.execute(_AGGREGATED)
        cursor.execute("ANALYZE billing_usagerecord, billing_usageevent, billing_usagerollup")
        cursor.execute("ANALYZE billing_usageday, billing_usagesum")


def _rows_read(read: Callable[[], object]) -> int:
    def total() -> int:
        with connection.cursor() as cursor:
            cursor.execute(_ROWS_READ)
            return int(cursor.fetchone()[0] or 0)

    before = total()
    read()
    return total() - before


def _customer() -> Principal:
    """Prepaid, with a hard budget, at prices that depend on volume."""
    tiers = [{"from": 0, "price": "0.002"}, {"from": 10_000, "price": "0.001"}]
    for kind in (Kind.INPUT, Kind.OUTPUT):
        Price.objects.create(
            model=factories.MODEL,
            kind=kind,
            tiers=tiers,
            effective_from=BEGINNING,
            currency="USD",
        )
    clear_price_cache()
    caller = factories.principal()
    BillingAccount.objects.create(organization_id=caller.organization_id, is_prepaid=True)
    credit_grant(organization_id=caller.organization_id, amount=Decimal(1000))
    budget_set(principal=caller, amount=Decimal(1000), is_hard=True)
    return caller


def _reads(caller: Principal) -> dict[str, Callable[[], object]]:
    limits = load_limits(caller.organization_id)
    facts = factories.facts(caller, occurred_at=NOON)
    book = load_book()
    return {
        "an admission that finds its counters too old": lambda: rebuild_counters(
            limits, limits.limits, at=NOON
        ),
        "the end of an answer": lambda: usage_cost(facts=facts, book=book),
        "credit on /api/billing": lambda: credit_state(caller.organization_id, at=NOON),
        "budgets": lambda: budgets_list(principal=caller),
    }


@pytest.mark.django_db
def test_rows_read_do_not_grow_with_the_month():
    caller = _customer()
    _fill(caller, FEW)
    rows = {name: _rows_read(read) for name, read in _reads(caller).items()}
    _fill(caller, MANY)
    grown = {name: _rows_read(read) for name, read in _reads(caller).items()}
    assert all(count < rows[name] + 5 * HOURS for name, count in grown.items()), (rows, grown)
