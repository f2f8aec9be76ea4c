"""What each step costs a customer with millions of records in the month, beside one with none: part
of `billing.bench`. Both are prepaid, with a hard budget and prices by volume.
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from django.db import connection, transaction

from backend.accounts.models import Organization, Project
from backend.accounts.principal import PlanLimits, Principal
from backend.platform.database import in_database
from backend.platform.redis import sync_client
from billing.budgets import reserve, settle
from billing.budgets.counters import CREDIT, Counter
from billing.budgets.credit import credit_state
from billing.budgets.credit_services import credit_grant
from billing.budgets.limits import load_limits
from billing.models import BillingAccount, Budget, Price
from billing.periods import month_of
from billing.prices.loading import clear_price_cache
from billing.prices.services import BEGINNING
from billing.quantities import Kind, TokenCounts
from billing.services import UsageFacts, usage_record_create

MODEL = "bench-month"
KEYS, MODELS = 20, 3
LATE = 20
"""So many of the month's last records have no event yet."""
_BATCH = 500_000
_TIERS = [{"from": 0, "price": "0.002"}, {"from": 10_000_000, "price": "0.001"}]

_RECORDS = f"""
INSERT INTO billing_usagerecord (
    generation_id, occurred_at, recorded_at, organization_id, project_id, user_id, key_id, model,
    pool, input_tokens, cached_input_tokens, output_tokens, state, duration_ms, client_hash
)
SELECT gen_random_uuid(), moment, moment, %(organization)s, %(project)s, %(user)s,
    lpad(to_hex(1 + number %% {KEYS}), 32, '0')::uuid,
    CASE number %% {MODELS} WHEN 0 THEN %(model)s ELSE 'other-' || number %% {MODELS} END,
    'pool', 100, 0, 50, 'completed', 900, ''
FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS number,
    LATERAL (SELECT %(start)s::timestamptz + number * %(step)s::interval AS moment) AS at
"""  # noqa: S608 -- constants of this module
_EVENTS = """
INSERT INTO billing_usageevent (
    event_id, occurred_at, organization_id, project_id, user_id, key_id, model, pool,
    input_tokens, cached_input_tokens, output_tokens, state, duration_ms, client_hash
)
SELECT generation_id, occurred_at, organization_id, project_id, user_id, key_id, model, pool,
    input_tokens, cached_input_tokens, output_tokens, state, duration_ms, client_hash
FROM billing_usagerecord WHERE organization_id = %(organization)s
"""
_ROLLUPS = """
INSERT INTO billing_usagerollup (
    hour, organization_id, project_id, user_id, key_id, model, requests, input_tokens,
    cached_input_tokens, output_tokens
)
SELECT date_trunc('hour', occurred_at, 'UTC'), organization_id, project_id, user_id, key_id, model,
    count(*), sum(input_tokens), sum(cached_input_tokens), sum(output_tokens)
FROM billing_usagerecord WHERE organization_id = %(organization)s GROUP BY 1, 2, 3, 4, 5, 6
"""


def month_fill(caller: Principal, *, records: int, start: datetime, end: datetime) -> None:
    """So many records, spread evenly over the time, as aggregators leave them."""
    values: dict[str, Any] = {
        "organization": caller.organization_id,
        "project": caller.project_id,
        "user": caller.user_id,
        "model": MODEL,
        "start": start,
        "step": (end - start) / (records + 1),
    }
    with connection.cursor() as cursor:
        # Without triggers: each record would be listed as not aggregated, and taken off again.
        cursor.execute("SET session_replication_role = replica")
        aggregated = records - LATE
        for first in range(1, aggregated + 1, _BATCH):
            last = min(first + _BATCH - 1, aggregated)
            cursor.execute(_RECORDS, {**values, "first": first, "last": last})
        cursor.execute(_EVENTS, values)
        cursor.execute("SET session_replication_role = DEFAULT")
        cursor.execute(_ROLLUPS, values)
        cursor.execute(_RECORDS, {**values, "first": aggregated + 1, "last": records})
        cursor.execute("ANALYZE billing_usagerecord, billing_usageevent, billing_usagerollup")
        cursor.execute("ANALYZE billing_usageday, billing_usagesum, billing_unaggregatedusage")


def customer_with_everything(name: str) -> Principal:
    """Prepaid, with a hard budget; prices are set by `prices_by_volume`."""
    organization = Organization.objects.create(name=name, plan_id="free")
    project = Project.objects.create(organization=organization, name="Bench", is_default=True)
    BillingAccount.objects.create(organization=organization, is_prepaid=True)
    credit_grant(organization_id=organization.pk, amount=Decimal(10**6))
    Budget.objects.create(organization=organization, amount=Decimal(10**6), is_hard=True)
    plan = PlanLimits("free", 0, 0, 0, 0)
    return Principal(organization.id, project.id, UUID(int=1), None, "owner", plan)


def prices_by_volume() -> None:
    for model in (MODEL, *(f"other-{n}" for n in range(1, MODELS))):
        for kind in (Kind.INPUT, Kind.OUTPUT):
            Price.objects.create(
                model=model, kind=kind, tiers=_TIERS, effective_from=BEGINNING, currency="USD"
            )
    clear_price_cache()


def measure_month(records: int, *, rounds: int = 200) -> None:
    """Print milliseconds of each step, in turns for both customers."""
    prices_by_volume()
    none, many = (customer_with_everything(name) for name in ("none", "many"))
    now = datetime.now(UTC)
    started = time.perf_counter()
    month_fill(many, records=records, start=month_of(now).start, end=now - timedelta(hours=2))
    print(f"{records:,} records in the month, filled in {time.perf_counter() - started:.0f} s")
    print("| ms, median | none | month | ratio |\n|---|--:|--:|--:|")
    asyncio.run(_measure(none, many, rounds))


async def _measure(none: Principal, many: Principal, rounds: int) -> None:
    steps: dict[str, Callable[[Principal], Awaitable[float]]] = {
        "admission": _admission,
        "end of an answer": _end,
        "admission, its counters lost": _cold_admission,
        "credit and budget on /api/billing": _credit,
    }
    for name, step in steps.items():
        took: tuple[list[float], list[float]] = ([], [])
        for turn in range(rounds + 10):
            for caller, times in zip((none, many), took, strict=True):
                seconds = await step(caller)
                if turn >= 10:  # the first ones load limits, prices and counters
                    times.append(1000 * seconds)
        few, much = (statistics.median(times) for times in took)
        print(f"| {name} | {few:.2f} | {much:.2f} | {much / few:.2f} |", flush=True)


async def _reserve(caller: Principal) -> tuple[UUID, float]:
    generation_id = uuid4()
    started = time.perf_counter()
    await reserve(
        principal=caller,
        generation_id=generation_id,
        model=MODEL,
        input_tokens=500,
        max_output_tokens=500,
    )
    return generation_id, time.perf_counter() - started


async def _admission(caller: Principal) -> float:
    generation_id, took = await _reserve(caller)
    await settle(generation_id=generation_id, facts=None)
    return took


async def _cold_admission(caller: Principal) -> float:
    await in_database(_lose_counters, caller)
    return await _admission(caller)


def _lose_counters(caller: Principal) -> None:
    now = datetime.now(UTC)
    limits = load_limits(caller.organization_id)
    for name in (CREDIT, *(limit.name for limit in limits.limits)):
        counter = Counter.at(caller.organization_id, limits.currency, name, now)
        sync_client().delete(counter.keys[0])


async def _end(caller: Principal) -> float:
    generation_id, _ = await _reserve(caller)
    facts = UsageFacts(
        generation_id=generation_id,
        occurred_at=datetime.now(UTC),
        organization_id=caller.organization_id,
        project_id=caller.project_id,
        user_id=caller.user_id,
        key_id=None,
        model=MODEL,
        pool=MODEL,
        reported=TokenCounts(input=500, output=200),
        state="completed",
        ttft_ms=100,
        duration_ms=900,
    )
    await in_database(_record, facts)
    started = time.perf_counter()
    await settle(generation_id=generation_id, facts=facts)
    return time.perf_counter() - started


@transaction.atomic
def _record(facts: UsageFacts) -> None:
    usage_record_create(facts=facts)


async def _credit(caller: Principal) -> float:
    started = time.perf_counter()
    await in_database(credit_state, caller.organization_id, at=datetime.now(UTC))
    return time.perf_counter() - started
