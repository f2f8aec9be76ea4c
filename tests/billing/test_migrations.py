"""Migrations that touch what was charged: they refuse rather than change a figure."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from tests.billing import factories

pytestmark = pytest.mark.django_db(transaction=True)

_INSERT = """
INSERT INTO billing_usagerecord (
    generation_id, occurred_at, organization_id, project_id, user_id, model, pool, input_tokens,
    cached_input_tokens, output_tokens, reasoning_tokens, image_tokens, state, duration_ms,
    client_hash
) VALUES (gen_random_uuid(), now(), %s, %s, %s, 'm', 'm', 9, 0, 0, 0, %s, 'completed', 1, '')
"""


@pytest.fixture
def migrate() -> Iterator[Callable[[str], None]]:
    """Takes billing to the migration of that name, and at the end to the last one again."""

    def to(name: str) -> None:
        executor = MigrationExecutor(connection)
        executor.migrate([("billing", name)])

    [(_, last)] = MigrationExecutor(connection).loader.graph.leaf_nodes("billing")
    yield to
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE billing_usagerecord CASCADE")
    to(last)


def record_before_0011(image_tokens: int) -> None:
    caller = factories.principal()
    ids = [caller.organization_id, caller.project_id, caller.user_id]
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, [*ids, image_tokens])


def columns_of(table: str) -> set[str]:
    with connection.cursor() as cursor:
        return {
            column.name for column in connection.introspection.get_table_description(cursor, table)
        }


def test_token_kinds_are_dropped_with_their_prices_only_when_nothing_counted_them(migrate):
    """One way there and back, which costs seconds, for the refusal and for what follows it."""
    migrate("0010_void_frees_usage")
    record_before_0011(image_tokens=5)
    with pytest.raises(DatabaseError, match="image or reasoning tokens"):
        migrate("0011_token_kinds")
    assert "image_tokens" in columns_of("billing_usagerecord")

    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE billing_usagerecord CASCADE")
        record_before_0011(image_tokens=0)
        cursor.executemany(
            "INSERT INTO billing_price (currency, model, kind, tiers, effective_from, note)"
            " VALUES ('USD', 'm', %s, '[]', %s, '')",
            [(kind, datetime(2026, 1, 1, tzinfo=UTC)) for kind in ("input", "image", "reasoning")],
        )
        migrate("0011_token_kinds")
        cursor.execute("SELECT array_agg(kind::text) FROM billing_price")
        assert cursor.fetchone()[0] == ["input"]
        with pytest.raises(DatabaseError, match="append-only"):
            cursor.execute("DELETE FROM billing_price")
    for table in ("usagerecord", "usageevent", "usagerollup", "invoiceline"):
        assert not {"image_tokens", "reasoning_tokens"} & columns_of(f"billing_{table}")


def test_usage_of_before_is_summed_by_day(migrate):
    caller = factories.principal()
    ids = [caller.organization_id, caller.project_id, caller.user_id]
    migrate("0016_token_columns")
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO billing_usagerollup (hour, organization_id, project_id, user_id, model,"
            " requests, input_tokens, cached_input_tokens, output_tokens)"
            " VALUES (%s, %s, %s, %s, 'm', 1, 9, 4, %s)",
            [
                (datetime(2026, 1, day, hour, tzinfo=UTC), *ids, hour)
                for day, hour in ((1, 0), (1, 23), (2, 0))
            ],
        )
        migrate("0017_usage_days")
        cursor.execute(
            "SELECT extract(day FROM day AT TIME ZONE 'UTC')::int, requests, input_tokens,"
            " cached_input_tokens, output_tokens FROM billing_usageday ORDER BY day"
        )
        assert cursor.fetchall() == [(1, 2, 18, 8, 23), (2, 1, 9, 4, 0)]
        cursor.execute("TRUNCATE billing_usagerollup, billing_usageday")
