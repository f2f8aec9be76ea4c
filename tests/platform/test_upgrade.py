"""A database of before the migrations were squashed is upgraded through those that made it.

One walk through the history of an installation serves all tests here, since it costs seconds:
billing stops where its migrations refuse or sum what is there, the other apps have begun, and
`manage.py migrate` does the rest. What comes out is what a new installation has.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from pytest_django.plugin import DjangoDbBlocker

from backend.platform.partitions import convert, is_partitioned
from billing.partitions import TABLES
from tests.support.database import triggers_resting
from tests.support.migrations import models_rendered_alone

_RECORD = """
INSERT INTO billing_usagerecord (
    generation_id, occurred_at, organization_id, project_id, user_id, model, pool, input_tokens,
    cached_input_tokens, output_tokens, reasoning_tokens, image_tokens, state, duration_ms,
    client_hash
) VALUES (gen_random_uuid(), now(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'm',
    'm', 9, 0, 0, 0, %s, 'completed', 1, '')
"""
_USAGE = """
INSERT INTO {} (
    {}, occurred_at, organization_id, project_id, user_id, model, pool, input_tokens,
    cached_input_tokens, output_tokens, state, duration_ms, client_hash
) VALUES (gen_random_uuid(), now(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'm',
    'm', 9, 0, 0, 'completed', 1, '')
"""
_PRICES = """
INSERT INTO billing_price (currency, model, kind, tiers, effective_from, note)
SELECT 'USD', 'm', kind, '[]', '2026-01-01', '' FROM unnest(ARRAY['input', 'image', 'reasoning'])
    AS kind
"""
_ROLLUPS = """
INSERT INTO billing_usagerollup (hour, organization_id, project_id, user_id, model, requests,
    input_tokens, cached_input_tokens, output_tokens)
SELECT hour, '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002',
    '00000000-0000-0000-0000-000000000003', 'm', 1, 9, 4, extract(hour FROM hour AT TIME ZONE 'UTC')
FROM unnest(ARRAY['2026-01-01 00:00Z', '2026-01-01 23:00Z', '2026-01-02 00:00Z']::timestamptz[])
    AS hour
"""
_DAYS = """
SELECT extract(day FROM day AT TIME ZONE 'UTC')::int, requests, input_tokens, cached_input_tokens,
    output_tokens FROM billing_usageday ORDER BY day
"""
_COLUMNS = """
SELECT column_name FROM information_schema.columns WHERE column_name LIKE '%_tokens'
    AND table_name IN ('billing_usagerecord', 'billing_usageevent', 'billing_usagerollup',
        'billing_invoiceline')
"""
# All that migrations make, a line each. Not the order of columns and the names of what holds one of
# them, such as NOT NULL, which tell of the past; nor the months of partitioned tables, which are
# made while the product runs.
_SCHEMA = """
WITH months AS (SELECT oid, relname FROM pg_class WHERE relispartition)
SELECT concat_ws(' ', 'column', table_name, column_name, udt_name, character_maximum_length,
        numeric_precision, numeric_scale, is_nullable, column_default, collation_name,
        identity_generation)
    FROM information_schema.columns WHERE table_schema = 'public'
    AND table_name NOT IN (SELECT relname FROM months)
UNION ALL SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = 'public'
    AND tablename NOT IN (SELECT relname FROM months)
UNION ALL SELECT concat_ws(' ', 'constraint', conrelid::regclass, CASE
        WHEN contype <> 'n' AND conname !~ '_check$' THEN conname END,
        pg_get_constraintdef(oid))
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace
    AND conrelid NOT IN (SELECT oid FROM months)
UNION ALL SELECT 'trigger ' || pg_get_triggerdef(oid) FROM pg_trigger
    WHERE NOT tgisinternal AND tgparentid = 0
UNION ALL SELECT regexp_replace('function ' || pg_get_functiondef(pg_proc.oid), '\\s+', ' ', 'g')
    FROM pg_proc JOIN pg_language ON prolang = pg_language.oid
    WHERE pronamespace = 'public'::regnamespace AND lanname = 'plpgsql'
UNION ALL SELECT 'extension ' || extname FROM pg_extension
UNION ALL SELECT concat('plan ', to_jsonb(accounts_plan) - 'id') FROM accounts_plan
"""


@dataclass(frozen=True)
class Upgrade:
    """What was seen on the way.

    Attributes:
        refusal: of dropping columns that hold a number.
        token_columns: of billing's tables, after the refusal and after nothing was refused.
        price_kinds: that are left without these columns.
        price_refusal: of deleting a price then.
        days: sums of usage that was there before sums were kept.
        partitioned: which tables of billing `migrate` has partitioned, though they hold usage.
        schema: what is there at the end, when an operator has had them partitioned.
        new_schema: what the squashed migrations made, in the tests' own database.
    """

    refusal: str
    token_columns: tuple[set[str], set[str]]
    price_kinds: set[str]
    price_refusal: str
    days: list[tuple[int, ...]]
    partitioned: list[str]
    schema: set[str]
    new_schema: set[str]


@pytest.fixture(scope="module")
def upgrade(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Upgrade]:
    """The tests of this module have the upgraded database for the default one."""
    with django_db_blocker.unblock(), _other_database("upgraded") as tests:
        with models_rendered_alone():
            seen = _upgrade(new=_column(_SCHEMA, tests))
        yield seen


def _upgrade(new: set[str]) -> Upgrade:
    _migrate("billing", "0010_void_frees_usage")
    _insert(_RECORD, [5])
    refusal = _refusal_of_migration("billing", "0011_token_kinds")
    columns = _column(_COLUMNS)
    _execute("TRUNCATE billing_usagerecord CASCADE")
    _insert(_RECORD, [0])
    _insert(_PRICES)
    _migrate("billing", "0011_token_kinds")
    without = _column(_COLUMNS)
    kinds = _column("SELECT kind FROM billing_price")
    price_refusal = _refusal("DELETE FROM billing_price")

    _migrate("billing", "0016_token_columns")
    _insert(_ROLLUPS)
    _migrate("billing", "0017_usage_days")
    days = _rows(_DAYS)
    _execute("TRUNCATE billing_usagerecord, billing_usagerollup, billing_usageday CASCADE")
    for app, name in _firsts():
        _migrate(app, name)

    for table in TABLES:
        _insert(_USAGE.format(table.table, table.key))
    call_command("migrate", verbosity=0)
    partitioned = [table.table for table in TABLES if is_partitioned(table.table)]
    for table in TABLES:
        convert(table, now=datetime.now(UTC))
    schema = _column(_SCHEMA)
    return Upgrade(
        refusal, (columns, without), kinds, price_refusal, days, partitioned, schema, new
    )


def test_columns_of_tokens_that_were_counted_are_not_dropped(upgrade: Upgrade) -> None:
    assert "image or reasoning tokens" in upgrade.refusal
    assert {"image_tokens", "reasoning_tokens"} <= upgrade.token_columns[0]


def test_token_kinds_are_dropped_with_their_prices_when_nothing_counted_them(
    upgrade: Upgrade,
) -> None:
    assert not {"image_tokens", "reasoning_tokens"} & upgrade.token_columns[1]
    assert upgrade.price_kinds == {"input"}
    assert "append-only" in upgrade.price_refusal


def test_usage_of_before_is_summed_by_day(upgrade: Upgrade) -> None:
    assert upgrade.days == [(1, 2, 18, 8, 23), (2, 1, 9, 4, 0)]


def test_tables_that_hold_usage_are_partitioned_only_by_their_operator(upgrade: Upgrade) -> None:
    assert upgrade.partitioned == []
    for table in TABLES:
        assert _rows(f"SELECT input_tokens FROM {table.table}") == [(9,)]


def test_upgraded_database_is_as_a_new_one(upgrade: Upgrade) -> None:
    assert sorted(upgrade.schema - upgrade.new_schema) == []
    assert sorted(upgrade.new_schema - upgrade.schema) == []


@pytest.mark.nightly(
    beside="tests/platform/test_upgrade.py::test_upgraded_database_is_as_a_new_one"
)
def test_django_by_itself_makes_the_same_database(upgrade: Upgrade) -> None:
    """With each model rendered that is related to a changed one."""
    with _other_database("by_itself"):
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes())
        schema = _column(_SCHEMA)
    assert sorted(schema - upgrade.new_schema) == []
    assert sorted(upgrade.new_schema - schema) == []


def test_squashed_migrations_count_as_applied_after_an_upgrade(upgrade: Upgrade) -> None:
    applied = set(MigrationRecorder(connection).applied_migrations())
    assert _squashed().keys() <= applied
    executor = MigrationExecutor(connection)
    assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []


def _squashed() -> Mapping[tuple[str, str], Sequence[tuple[str, str]]]:
    replacements = MigrationLoader(None).replacements
    return {key: migration.replaces for key, migration in replacements.items()}


def _firsts() -> list[tuple[str, str]]:
    """Of each squashed migration the first that it replaces: with it, the others must run too."""
    return [
        replaced[0]
        for (app, _), replaced in _squashed().items()
        if app not in ("billing", "generation")
    ]


@contextmanager
def _other_database(name: str) -> Iterator[BaseDatabaseWrapper]:
    """A new and empty database is the default one; gives the connection to the tests' own."""
    tests = connections[DEFAULT_DB_ALIAS]
    other = tests.copy()
    other.settings_dict["NAME"] = name
    other.settings_dict["OPTIONS"].pop("pool", None)  # a pool belongs to an alias
    with tests.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name} TEMPLATE template0")
    connections[DEFAULT_DB_ALIAS] = other
    try:
        yield tests
    finally:
        other.close()
        connections[DEFAULT_DB_ALIAS] = tests
        with tests.cursor() as cursor:
            cursor.execute(f"DROP DATABASE {name}")


def _migrate(app: str, name: str) -> None:
    """By the migrations of before, in the place of those that replace them."""
    executor = MigrationExecutor(connection)
    executor.loader = MigrationLoader(connection, replace_migrations=False)
    executor.migrate([(app, name)])


def _refusal_of_migration(app: str, name: str) -> str:
    with pytest.raises(DatabaseError) as refused:
        _migrate(app, name)
    return str(refused.value)


def _refusal(statement: str) -> str:
    with pytest.raises(DatabaseError) as refused:
        _execute(statement)
    return str(refused.value)


def _insert(statement: str, parameters: Sequence[int] | None = None) -> None:
    """Rows of customers that nobody has made."""
    with triggers_resting():
        _execute(statement, parameters)


def _execute(statement: str, parameters: Sequence[int] | None = None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)


def _rows(query: str, database: BaseDatabaseWrapper | None = None) -> list[tuple[Any, ...]]:
    with (database or connections[DEFAULT_DB_ALIAS]).cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchall()


def _column(query: str, database: BaseDatabaseWrapper | None = None) -> set[str]:
    return {value for (value,) in _rows(query, database)}
