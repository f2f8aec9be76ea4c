"""Deletes of any size go page by page, and what is due is found by an index."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import Q
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from backend.accounts.mail import mails_delete
from backend.accounts.models import Mail
from backend.accounts.principal import Principal
from backend.api.models import RequestLog, StoredResponse
from backend.api.responses.rows import purge_responses
from backend.generation.models import Generation, StoredAnswer
from backend.platform import pages
from backend.platform.pages import delete_in_pages
from billing.abuse.counting import delete_before
from billing.models import AbuseSeen
from billing.models.outbox import OutboxEvent
from tests.billing.factories import uuid
from tests.factories import member

pytestmark = pytest.mark.django_db(transaction=True)

NOW = timezone.now()
HOUR = NOW.replace(minute=0, second=0, microsecond=0)


def see(numbers: range, *, hours_ago: int) -> None:
    hour = HOUR - timedelta(hours=hours_ago)
    AbuseSeen.objects.bulk_create(AbuseSeen(event_id=uuid(n), hour=hour) for n in numbers)


def deletes(captured: CaptureQueriesContext) -> list[str]:
    statements = [query["sql"] for query in captured.captured_queries]
    return [sql for sql in statements if sql.startswith("DELETE")]


@pytest.mark.parametrize(("due", "pages_of_them"), [(0, 0), (9, 1), (10, 1), (25, 3)])
def test_delete_goes_page_by_page(due: int, pages_of_them: int) -> None:
    see(range(due), hours_ago=50)
    see(range(100, 103), hours_ago=1)
    rows = AbuseSeen.objects.filter(hour__lt=HOUR - timedelta(hours=48))
    with CaptureQueriesContext(connection) as captured:
        assert delete_in_pages(rows, by="hour", size=10) == due
    assert len(deletes(captured)) == pages_of_them
    assert AbuseSeen.objects.count() == 3


def test_deleted_pages_survive_an_interruption() -> None:
    see(range(25), hours_ago=50)
    count = 0

    def fail_at_third_delete(execute: Any, sql: str, *rest: Any) -> Any:
        nonlocal count
        count += sql.startswith("DELETE")
        if count == 3:
            raise InterruptedError
        return execute(sql, *rest)

    with connection.execute_wrapper(fail_at_third_delete), pytest.raises(InterruptedError):
        delete_in_pages(AbuseSeen.objects.all(), by="hour", size=10)
    assert AbuseSeen.objects.count() == 5


def test_row_that_leaves_the_selection_stays() -> None:
    see(range(5), hours_ago=50)
    changed = AbuseSeen.objects.filter(pk=uuid(3))

    def change_before_delete(execute: Any, sql: str, *rest: Any) -> Any:
        if sql.startswith("DELETE"):
            execute(
                "UPDATE billing_abuseseen SET hour = %s WHERE event_id = %s",
                [HOUR, uuid(3)],
                *rest[1:],
            )
        return execute(sql, *rest)

    rows = AbuseSeen.objects.filter(hour__lt=HOUR)
    with connection.execute_wrapper(change_before_delete):
        assert delete_in_pages(rows, by="hour", size=10) == 4
    assert changed.exists()


def test_purges_delete_in_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages.delete_in_pages, "__kwdefaults__", {"by": "pk", "size": 10})
    see(range(25), hours_ago=50)
    Mail.objects.bulk_create(Mail(to="a@example.org") for _ in range(25))
    Mail.objects.update(created_at=NOW - timedelta(days=365))
    with CaptureQueriesContext(connection) as captured:
        delete_before(HOUR - timedelta(hours=48))
        assert mails_delete() == 25
    assert len(deletes(captured)) == 6
    assert not AbuseSeen.objects.exists() and not Mail.objects.exists()


def answered(principal: Principal, *, age: timedelta) -> Generation:
    """A generation with its stored response and answer."""
    owner: dict[str, Any] = {
        "organization_id": principal.organization_id,
        "user_id": principal.user_id,
    }
    generation = Generation.objects.create(
        **owner,
        project_id=principal.project_id,
        endpoint="responses",
        model="auto",
        state="completed",
        finished_at=NOW,
        deadline_at=NOW,
    )
    Generation.objects.filter(pk=generation.pk).update(created_at=NOW - age)
    StoredAnswer.objects.create(generation=generation, text="Hello.")
    StoredResponse.objects.create(
        id=generation.pk, items="[]", asked="{}", created_at=NOW - age, **owner
    )
    return generation


def test_stored_responses_go_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages.delete_in_pages, "__kwdefaults__", {"by": "pk", "size": 2})
    principal = member()
    for _ in range(5):
        answered(principal, age=timedelta(days=31))
    kept = answered(principal, age=timedelta(days=29))
    assert purge_responses() == 5
    assert StoredAnswer.objects.get().pk == StoredResponse.objects.get().pk == kept.pk


@pytest.mark.parametrize(
    ("model", "due", "by", "index"),
    [
        (RequestLog, Q(project_id=uuid(1)), "created_at", "request_log_of_project"),
        (OutboxEvent, Q(), "published_at", "outbox_published"),
        (Mail, Q(), "created_at", "mail_created"),
        (AbuseSeen, Q(), "hour", "billing_abuseseen_hour"),
    ],
)
def test_purges_find_rows_by_an_index(model: Any, due: Q, by: str, index: str) -> None:
    """A table that has just been made is small: it would be read from front to back."""
    rows = model.objects.filter(due, **{f"{by}__lt": NOW}).order_by(by)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_bitmapscan = off")
        cursor.execute("SET LOCAL enable_sort = off")
        plan = rows.values_list("pk", by)[:10].explain()
    assert index in plan
    assert "Filter" not in plan and "Sort" not in plan
