"""Migrations do not hold up requests: no long lock on a table that grows, no long wait for one."""

from collections.abc import Iterable, Iterator
from typing import Any

import psycopg
import pytest
from django.contrib.postgres.operations import AddConstraintNotValid, AddIndexConcurrently
from django.db import OperationalError, connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation

from backend.platform import lock_waits
from tests.billing.commands import database_url

# Tables with a row for each request or message.
GROWING = {
    ("accounts", "apikey"),
    ("api", "requestlog"),
    ("api", "storedresponse"),
    ("audit", "safetydecisionrecord"),
    ("audit_log", "auditevent"),
    ("billing", "outboxevent"),
    ("billing", "unaggregatedusage"),
    ("billing", "usageevent"),
    ("billing", "usagerecord"),
    ("billing", "usagerollup"),
    ("conversations", "attachment"),
    ("conversations", "conversation"),
    ("conversations", "message"),
    ("generation", "generation"),
}
# The last migration of each app that was written before this rule.
BEFORE = {
    "accounts": 15,
    "api": 9,
    "audit": 2,
    "audit_log": 3,
    "billing": 38,
    "conversations": 17,
    "enterprise": 7,
    "generation": 14,
    "rights": 3,
    "tools": 10,
}


def number_of(name: str) -> int:
    return int(name[:4]) if name[:4].isdigit() else 0


def offline_steps(app: str, operations: Iterable[Operation]) -> Iterator[str]:
    """Yield the operations that read or write a growing table under a lock."""
    for operation in operations:
        if isinstance(operation, migrations.SeparateDatabaseAndState):
            yield from offline_steps(app, operation.database_operations)
        table = (app, str(getattr(operation, "model_name", "")).lower())
        if table not in GROWING:
            continue
        match operation:
            case AddIndexConcurrently() | AddConstraintNotValid():
                continue
            case migrations.AddIndex() | migrations.AddConstraint():
                yield f"{table}: {operation.describe()}"
            case migrations.AddField() | migrations.AlterField():
                field: Any = operation.field
                if field.db_index or field.unique or field.remote_field is not None:
                    yield f"{table}: {operation.describe()}"


def test_new_migrations_lock_no_growing_table() -> None:
    loader = MigrationLoader(None, ignore_no_migrations=True)
    found = [
        f"{app}.{name}: {step}"
        for (app, name), migration in loader.disk_migrations.items()
        if migration.__module__.startswith(("backend.", "billing.", "safety."))
        if number_of(name) > BEFORE.get(app, 0)
        for step in offline_steps(app, migration.operations)
    ]
    assert found == []


def test_growing_tables_exist() -> None:
    state = MigrationLoader(None, ignore_no_migrations=True).project_state()
    assert set(state.models) >= GROWING


@pytest.mark.parametrize(
    ("operation", "is_offline"),
    [
        (migrations.AddIndex("message", models.Index(fields=["id"], name="x")), True),
        (AddIndexConcurrently("message", models.Index(fields=["id"], name="x")), False),
        (migrations.AddField("message", "x", models.IntegerField(null=True)), False),
        (migrations.AddField("message", "x", models.IntegerField(db_index=True)), True),
        (
            migrations.AddConstraint(
                "message", models.CheckConstraint(condition=models.Q(id__gt=0), name="x")
            ),
            True,
        ),
    ],
)
def test_offline_step_is_found(operation: Operation, is_offline: bool) -> None:
    assert bool(list(offline_steps("conversations", [operation]))) is is_offline


@pytest.mark.django_db(transaction=True)
def test_migration_gives_up_a_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock_waits, "LOCK_TIMEOUT", "100ms")
    add_column = "ALTER TABLE conversations_conversation ADD COLUMN x integer"
    with psycopg.connect(database_url()) as reader:
        reader.execute("SELECT 1 FROM conversations_conversation")  # holds its lock
        with (
            connection.execute_wrapper(lock_waits.bound_lock_waits),
            connection.cursor() as cursor,
            pytest.raises(OperationalError, match="lock timeout"),
        ):
            cursor.execute(add_column)


@pytest.mark.django_db(transaction=True)
def test_concurrent_index_may_wait() -> None:
    with (
        connection.execute_wrapper(lock_waits.bound_lock_waits),
        connection.cursor() as cursor,
    ):
        cursor.execute("CREATE INDEX CONCURRENTLY x ON conversations_conversation (id) WHERE false")
        cursor.execute("DROP INDEX CONCURRENTLY x")
        cursor.connection.execute("SELECT 1")
        [(timeout,)] = cursor.connection.execute("SHOW lock_timeout").fetchall()
    assert timeout == "0"
