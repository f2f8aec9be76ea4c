"""What a transactional test leaves behind is gone after it, and what it deleted is there again."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.core.management import call_command
from django.db import connection
from django.test import TransactionTestCase

from backend.accounts.models import Plan
from tests.factories import member
from tests.support import database

pytestmark = pytest.mark.django_db(transaction=True)


def contents() -> dict[str, Any]:
    """How many rows each table has, and what is in those that are never empty."""
    tables = connection.introspection.django_table_names(only_existing=True)
    with connection.cursor() as cursor:
        counts = {}
        for name in tables:
            cursor.execute(f'SELECT count(*) FROM "{name}"')
            [(counts[name],)] = cursor.fetchall()
    return {
        **counts,
        "plans": list(Plan.objects.order_by("slug").values()),
        "permissions": set(Permission.objects.values_list("content_type__model", "codename")),
        "groups": set(Group.objects.values_list("name", "permissions__codename")),
    }


def emptied_by(teardown: Callable[[TransactionTestCase], None]) -> dict[str, Any]:
    """What the database holds after a test that has changed it everywhere."""
    member()
    Group.objects.all()[0].delete()
    Permission.objects.all()[0].delete()
    Plan.objects.update(requests_per_minute=1)
    teardown(TransactionTestCase())
    return contents()


def test_database_is_restored_as_a_flush_leaves_it() -> None:
    database.restore(TransactionTestCase())
    with database.triggers_resting():
        call_command("flush", verbosity=0, interactive=False, reset_sequences=False)
    flushed = contents()
    assert flushed["plans"]
    assert flushed["groups"]
    assert emptied_by(database.restore) == flushed
    assert emptied_by(database.restore) == flushed


def test_database_is_restored_when_a_test_has_ended_all_other_sessions() -> None:
    for _ in range(2):  # the session that restores is open then
        database.restore(TransactionTestCase())
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        assert cursor.fetchone()[0] >= 1
    member()
    database.restore(TransactionTestCase())
    assert contents()["accounts_organization"] == 0
