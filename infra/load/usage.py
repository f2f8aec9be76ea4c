"""`make bench-usage`: what a large customer's month costs to look at, and to sum from the ledger.

One organization with millions of ledger records in a month, their events and sums as aggregators
make them, and some records whose event has not come. Each figure
is asked for over HTTP, of a real web process, and summed from the ledger by one statement: they
have to be equal. The database is the embedded one, in a directory that is removed afterwards.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import psycopg

from infra.load.stack import Stack
from infra.load.usage_answers import Figures, read_buckets, read_costs, read_rows, read_total

MODELS, PROJECTS, KEYS, MEMBERS = 4, 10, 50, 300
"""Each key is of one project and one member. One record in ten is from the page, without a key."""
_INPUT_PRICE, _OUTPUT_PRICE = Decimal("0.0005"), Decimal("0.0015")
_BATCH = 250_000
_WARM_UP, _REQUESTS = 3, 20
_LEDGER_SUMS = 3

# Spread evenly over the month and written in order of time, as a ledger is.
_FILL = f"""
INSERT INTO billing_usagerecord (
    generation_id, occurred_at, organization_id, project_id, user_id, key_id, model, pool,
    input_tokens, cached_input_tokens, output_tokens, state, ttft_ms, duration_ms, client_hash
)
SELECT gen_random_uuid(), %(start)s + n * %(step)s::interval, %(organization)s,
    lpad(to_hex(1 + who %% {PROJECTS}), 32, '0')::uuid,
    lpad(to_hex(1 + who), 32, '0')::uuid,
    CASE WHEN n %% 10 > 0 THEN lpad(to_hex(1 + who), 32, '0')::uuid END,
    'bench-' || (hashint8(n * 7 + 1) & {MODELS - 1}), 'pool',
    100 + n %% 3000, n %% 100, 10 + n %% 700, 'completed', 200, 3000, ''
FROM (
    SELECT n, CASE WHEN n %% 10 > 0 THEN (hashint8(n) & 65535) %% {KEYS}
        ELSE {KEYS} + (hashint8(n) & 65535) %% {MEMBERS} END AS who
    FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n
) AS numbered
"""  # noqa: S608 -- constants of this module
_PRICE = f"""
INSERT INTO billing_price (
    currency, organization_id, project_id, model, kind, tiers, effective_from, note
)
SELECT 'USD', %(organization)s, %(project)s, 'bench-' || n, %(kind)s,
    jsonb_build_array(jsonb_build_object('from', 0, 'price', %(price)s::text)),
    '2000-01-01', '' FROM generate_series(0, {MODELS - 1}) AS n
"""  # noqa: S608 -- a constant of this module
_PROJECT = UUID(int=1)
"""It has prices of its own with `--project-price`."""
_SUMS = (
    "count(*), sum(input_tokens), sum(cached_input_tokens), sum(output_tokens),"
    f" coalesce(sum(input_tokens) FILTER (WHERE project_id = '{_PROJECT}'), 0),"
    f" coalesce(sum(output_tokens) FILTER (WHERE project_id = '{_PROJECT}'), 0)"
)


@dataclass(frozen=True, slots=True)
class Question:
    """One figure, at both doors.

    Attributes:
        group: the SQL that the ledger is grouped by.
        read: what an answer says, by group.
        end: up to where, from the month's beginning.
    """

    name: str
    path: str
    parameters: dict[str, Any]
    group: str
    read: Callable[[Any], Figures]
    end: datetime
    costs_only: bool = False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--records", type=int, default=5_000_000, help="of the month")
    parser.add_argument("--late", type=int, default=500, help="of these without their event")
    parser.add_argument(
        "--project-price", action="store_true", help="one of the projects pays a tenth"
    )
    arguments = parser.parse_args()
    share = Decimal("0.1") if arguments.project_price else Decimal(1)
    with tempfile.TemporaryDirectory(prefix="parley-load-") as name:
        directory = Path(name)
        directory.chmod(0o711)  # the database's account must be able to pass
        with Stack(directory, rate=30, settings={}) as stack:
            _measure(stack, records=arguments.records, late=arguments.late, share=share)


def _measure(stack: Stack, *, records: int, late: int, share: Decimal) -> None:
    """`share`: what one of the projects pays of the list price."""
    start, end = _month()
    with psycopg.connect(stack.database_url, autocommit=True) as connection:
        connection.execute("SET maintenance_work_mem = '512MB'")
        organization = _owner(stack)
        began = time.perf_counter()
        _set_prices(connection, organization, share)
        _fill(connection, organization, start, end, records=records, late=late)
        hours, days, coarser, size = _one(
            connection,
            "SELECT (SELECT count(*) FROM billing_usagerollup),"
            " (SELECT count(*) FROM billing_usageday),"
            " (SELECT count(*) FROM billing_usagesum),"
            " pg_size_pretty(pg_database_size(current_database()))",
        )
        print(
            f"{records:,} records of {start:%Y-%m}, {late:,} of them without their event;"
            f" {hours:,} hourly sums, {days:,} daily and {coarser:,}"
            f" coarser ones; {size};"
            f" filled in {time.perf_counter() - began:.0f} s\n"
        )
        print("| | over HTTP, median ms | slowest ms | ledger, ms | ratio |\n|---|--:|--:|--:|--:|")
        with httpx.Client(
            base_url=stack.web_url, headers={"Authorization": f"Bearer {stack.key}"}, timeout=300
        ) as client:
            for question in _questions(start, end):
                _ask(question, client, connection, organization, start, share)


def _ask(
    question: Question,
    client: httpx.Client,
    connection: psycopg.Connection[Any],
    organization: UUID,
    start: datetime,
    share: Decimal,
) -> None:
    """Print a line; AssertionError where the two differ."""
    times, answer = [], {}
    for n in range(_WARM_UP + _REQUESTS):
        began = time.perf_counter()
        response = client.get(question.path, params=question.parameters)
        took = time.perf_counter() - began
        response.raise_for_status()
        answer = question.read(response.json())
        if n >= _WARM_UP:
            times.append(took * 1000)
    ledger_times, expected = [], {}
    for _ in range(_LEDGER_SUMS):
        began = time.perf_counter()
        expected = _from_ledger(connection, organization, start, question, share)
        ledger_times.append((time.perf_counter() - began) * 1000)
    assert answer == expected, (question.name, _difference(answer, expected))
    median, ledger = statistics.median(times), statistics.median(ledger_times)
    print(
        f"| {question.name} | {median:.1f} | {max(times):.1f} | {ledger:,.0f}"
        f" | {ledger / median:,.0f} |",
        flush=True,
    )


def _questions(start: datetime, end: datetime) -> list[Question]:
    day = "to_char(occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')"
    hour = "to_char(occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24')"
    key = "coalesce(key_id::text, '')"
    page_groups = {"day": day, "model": "model", "key": key, "user": "user_id::text"}
    month = {"period": f"{start:%Y-%m}"}
    span = {"start_time": int(start.timestamp()), "end_time": int(end.timestamp()), "limit": 31}
    week = start + timedelta(days=7)
    hours = {**span, "end_time": int(week.timestamp()), "limit": 168, "bucket_width": "1h"}
    grouped = {**span, "group_by[]": ["model", "api_key_id"]}
    usage, organization = "/api/usage", "/v1/organization"
    completions = f"{organization}/usage/completions"
    daily, by_key = read_buckets("%Y-%m-%d"), read_buckets("%Y-%m-%d", "model", "api_key_id")
    return [
        Question("`/api/usage`, the sum", usage, month, "''", read_total, end),
        *(
            Question(
                f"the page, by {name}", usage, {**month, "group_by": name}, group, read_rows, end
            )
            for name, group in page_groups.items()
        ),
        Question(f"`{completions}`, days", completions, span, day, daily, end),
        Question(
            "the same by model and key",
            completions,
            grouped,
            f"concat_ws(' ', {day}, model, {key})",
            by_key,
            end,
        ),
        Question("a week of hours", completions, hours, hour, read_buckets("%Y-%m-%d %H"), week),
        Question(
            f"`{organization}/costs`, days",
            f"{organization}/costs",
            span,
            day,
            read_costs,
            end,
            costs_only=True,
        ),
    ]


# --- the ledger ----------------------------------------------------------------------------------


def _from_ledger(
    connection: psycopg.Connection[Any],
    organization: UUID,
    start: datetime,
    question: Question,
    share: Decimal,
) -> Figures:
    rows = connection.execute(
        f"SELECT {question.group}, {_SUMS} FROM billing_usagerecord"  # noqa: S608 -- ours
        " WHERE organization_id = %s AND occurred_at >= %s AND occurred_at < %s GROUP BY 1",
        [organization, start, question.end],
    ).fetchall()
    figures: Figures = {}
    for group, *sums in rows:
        requests, tokens, cached, output, own_tokens, own_output = map(int, sums)
        # Cached input has no price of its own here, so it costs what input costs.
        cost = (tokens * _INPUT_PRICE + output * _OUTPUT_PRICE) / 1000
        own_cost = (own_tokens * _INPUT_PRICE + own_output * _OUTPUT_PRICE) / 1000
        cost -= own_cost * (1 - share)
        counted = (requests, tokens, cached, output)
        if question.costs_only:
            figures[group] = (round(cost, 2),)
        elif question.path == "/api/usage":
            figures[group] = (*counted[1:], cost)  # it tells no number of requests
        else:
            figures[group] = counted
    return figures


def _set_prices(connection: psycopg.Connection[Any], organization: UUID, share: Decimal) -> None:
    for kind, price in (("input", _INPUT_PRICE), ("output", _OUTPUT_PRICE)):
        listed = {"organization": None, "project": None, "kind": kind, "price": price}
        connection.execute(_PRICE, listed)
        if share != 1:
            own = {"organization": organization, "project": _PROJECT, "price": price * share}
            connection.execute(_PRICE, listed | own)


def _fill(
    connection: psycopg.Connection[Any],
    organization: UUID,
    start: datetime,
    end: datetime,
    *,
    records: int,
    late: int,
) -> None:
    """The first records with their events and rollups, the last `late` ones without."""
    values = {"start": start, "step": (end - start) / (records + 1), "organization": organization}
    # What is listed as late would be all of them, to be taken off at once.
    connection.execute("ALTER TABLE billing_usagerecord DISABLE TRIGGER list_unaggregated")
    with _without_indexes(connection, "billing_usagerecord"):
        for first in range(1, records - late + 1, _BATCH):
            last = min(first + _BATCH - 1, records - late)
            connection.execute(_FILL, {**values, "first": first, "last": last})
    connection.execute("ALTER TABLE billing_usagerecord ENABLE TRIGGER list_unaggregated")
    connection.execute("ANALYZE billing_usagerecord")
    _aggregate(connection)
    connection.execute(_FILL, {**values, "first": records - late + 1, "last": records})
    connection.execute("VACUUM ANALYZE")


def _aggregate(connection: psycopg.Connection[Any]) -> None:
    """What aggregators would have made of the ledger: its events, and their sums by hour. Coarser
    sums come from the database's own triggers."""
    columns = {
        table: [
            name
            for (name,) in connection.execute(
                "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"
                " AND NOT attisdropped ORDER BY attnum",
                [table],
            )
        ]
        for table in ("billing_usagerecord", "billing_usageevent", "billing_usagerollup")
    }
    shared = [
        name for name in columns["billing_usageevent"] if name in columns["billing_usagerecord"]
    ]
    with _without_indexes(connection, "billing_usageevent"):
        connection.execute(
            f"INSERT INTO billing_usageevent (event_id, {', '.join(shared)})"  # noqa: S608
            f" SELECT generation_id, {', '.join(shared)} FROM billing_usagerecord"
        )
    tokens = [name for name in columns["billing_usagerollup"] if name.endswith("_tokens")]
    groups = "organization_id, project_id, user_id, key_id, model"
    connection.execute(
        f"INSERT INTO billing_usagerollup (hour, {groups}, requests, {', '.join(tokens)})"  # noqa: S608
        f" SELECT date_trunc('hour', occurred_at, 'UTC'), {groups}, count(*),"
        f" {', '.join(f'sum({name})' for name in tokens)}"
        f" FROM billing_usageevent GROUP BY 1, {groups} ORDER BY 1"
    )


@contextmanager
def _without_indexes(connection: psycopg.Connection[Any], table: str) -> Iterator[None]:
    """Built at once at the end they cost a fraction of what they cost row by row; the same for
    foreign keys. Where this is interrupted the database goes anyway."""
    constraints = connection.execute(
        "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE conrelid = %s::regclass AND contype IN ('p', 'u', 'f') ORDER BY contype DESC",
        [table],
    ).fetchall()
    for name, _ in constraints:
        connection.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
    indexes = connection.execute(
        "SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index"
        " WHERE indrelid = %s::regclass",
        [table],
    ).fetchall()
    for name, _ in indexes:
        connection.execute(f"DROP INDEX {name}")
    yield
    for _, definition in indexes:
        connection.execute(definition.replace(" ON ONLY ", " ON "))  # of all partitions
    for name, definition in constraints:
        connection.execute(f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {definition}')


def _owner(stack: Stack) -> UUID:
    """The organization of the key, as its own door tells it."""
    answer = httpx.get(
        f"{stack.web_url}/api/me", headers={"Authorization": f"Bearer {stack.key}"}, timeout=30
    )
    answer.raise_for_status()
    return UUID(answer.json()["organization"]["id"])


def _month() -> tuple[datetime, datetime]:
    """Last month: all of it is past, whenever this runs."""
    this = datetime.now(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return (this - timedelta(days=1)).replace(day=1), this


def _one(connection: psycopg.Connection[Any], query: str) -> tuple[Any, ...]:
    row = connection.execute(query).fetchone()
    assert row is not None
    return tuple(row)


def _difference(answer: Figures, expected: Figures) -> str:
    names = [name for name in {**expected, **answer} if answer.get(name) != expected.get(name)]
    return f"{len(names)} groups differ, {names[:1]}: " + ", ".join(
        str(figures.get(names[0])) for figures in (answer, expected)
    )


if __name__ == "__main__":
    main()
