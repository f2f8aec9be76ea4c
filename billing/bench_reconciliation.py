"""`make bench-reconciliation`: what a run of reconciliation costs with so many records in two days.

In a database of its own, filled with a ledger, its events and its rollups over `RECONCILED`. It
prints the CPU seconds of PostgreSQL and of this process for a comparison of the whole window, for
one run, and for the metric of lag, each as a share of a core when asked as often as it is.
"""

import argparse
import time
from collections.abc import Callable
from datetime import UTC, datetime
from statistics import median
from typing import Any

import psutil
from django.db import connection

from backend.accounts.models import Organization
from backend.platform.bench_database import bench_database
from billing.aggregator.lag import aggregation_lag_s
from billing.periods import RECONCILED
from billing.reconciliation.compare import differences
from billing.reconciliation.due import ROTATION, window_start
from billing.reconciliation.watch import reconcile_recent

_EVERY_S = {"whole window": 300.0, "a run": 300.0, "lag": 10.0}
_TIMES = 3
_SHARED = "occurred_at, organization_id, project_id, user_id, key_id, model"
_COUNTS = "input_tokens, cached_input_tokens, output_tokens"
_MORE = "pool, state, ttft_ms, duration_ms"
_FILL = f"""
INSERT INTO billing_usagerecord (generation_id, id_month, {_SHARED}, {_COUNTS}, {_MORE})
SELECT uuidv7(at - clock_timestamp()), date_trunc('month', at, 'UTC')::date, at,
    (%(organizations)s::uuid[])[n %% 200 + 1], lpad(to_hex(n %% 200), 32, '0')::uuid,
    lpad(to_hex(n %% 1000), 32, '0')::uuid, NULL, 'model-' || n %% 3,
    1000, 100, 300, 'pool', 'completed', 200, 3000
FROM generate_series(1, %(records)s) AS n,
    LATERAL (SELECT %(start)s + n * %(step)s * interval '1 second') AS time(at)
"""  # noqa: S608 -- constants of this module
_AGGREGATE = (
    f"INSERT INTO billing_usageevent (event_id, {_SHARED}, {_COUNTS}, {_MORE})"  # noqa: S608
    f" SELECT generation_id, {_SHARED}, {_COUNTS}, {_MORE} FROM billing_usagerecord",
    "INSERT INTO billing_usagerollup (hour, organization_id, project_id, user_id, key_id, model,"  # noqa: S608
    f" requests, {_COUNTS}) SELECT date_trunc('hour', occurred_at, 'UTC'), organization_id,"
    " project_id, user_id, key_id, model, count(*), sum(input_tokens), sum(cached_input_tokens),"
    " sum(output_tokens) FROM billing_usageevent GROUP BY 1, 2, 3, 4, 5, 6",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--records", type=int, default=1_000_000)


def measure(records: int) -> None:
    """Fill, run and print."""
    with bench_database():
        now = datetime.now(UTC)
        _fill(records, now)
        start = window_start(now)
        figures = {
            "whole window": _cpu_s(lambda: differences(start=start, end=now)),
            "a run": _cpu_s(lambda: reconcile_recent(now=now)),
            "lag": _cpu_s(aggregation_lag_s),
        }
        for name, seconds in figures.items():
            share = seconds / _EVERY_S[name]
            at_17_million = share * 17e6 / records
            print(
                f"{name:<14}{seconds:>8.3f} CPU s every {_EVERY_S[name]:>3.0f} s: {share:.2%} of a"
                f" core at {records:,} records, {at_17_million:.1%} at 17,000,000"
            )
        print(f"a run / whole window {figures['a run'] / figures['whole window']:.2f}")
        print(f"(each hour is compared once in {ROTATION} runs)")


def _fill(records: int, now: datetime) -> None:
    made = Organization.objects.bulk_create(
        Organization(name=f"Bench {n}", plan_id="free") for n in range(200)
    )
    values: dict[str, Any] = {
        "records": records,
        "organizations": [organization.pk for organization in made],
        "start": now - RECONCILED,
        "step": RECONCILED.total_seconds() / (records + 1),
    }
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE billing_usagerecord DISABLE TRIGGER list_unaggregated")
        cursor.execute(_FILL, values)
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE billing_usagerecord ENABLE TRIGGER list_unaggregated")
        for statement in _AGGREGATE:
            cursor.execute(statement)
        cursor.execute("VACUUM ANALYZE")


def _cpu_s(work: Callable[[], object]) -> float:
    """Return the median CPU seconds of `work` in this process and in its server process."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        [(pid,)] = cursor.fetchall()
    server = psutil.Process(pid)

    def once() -> float:
        before = _of(server) + time.process_time()
        work()
        return _of(server) + time.process_time() - before

    once()
    return median(once() for _ in range(_TIMES))


def _of(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system
