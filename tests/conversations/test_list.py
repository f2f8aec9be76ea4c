"""The list: search finds what was said, and a cursor neither repeats nor skips."""

from datetime import timedelta

import pytest
from django.utils import timezone

from backend.conversations.selectors import conversations_list
from backend.conversations.services import (
    conversation_create,
    conversation_delete,
    conversation_restore,
    conversation_update,
)
from backend.platform.errors import InvalidRequest, NotFound
from tests.conversations.message_trees import finished_turns
from tests.factories import MODEL, MessageFactory, conversation_of, member

pytestmark = pytest.mark.django_db


@pytest.fixture
def user():
    return member()


def titles(user, **query):
    return [item.title for item in conversations_list(principal=user, **query).items]


def all_pages(user, limit, **query):
    found, cursor = [], None
    while True:
        page = conversations_list(principal=user, limit=limit, cursor=cursor, **query)
        assert len(page.items) <= limit
        found += [item.title for item in page.items]
        cursor = page.next_cursor
        if cursor is None:
            return found


def test_pinned_conversations_come_first_then_the_last_used():
    user, now = member(), timezone.now()
    for title, days, pinned in [("a", 3, True), ("b", 2, False), ("c", 1, True), ("d", 0, False)]:
        conversation_of(
            user,
            title=title,
            updated_at=now - timedelta(days=days),
            pinned_at=now if pinned else None,
        )

    assert titles(user) == ["c", "a", "d", "b"]


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
def test_pages_add_up_to_the_list_when_times_are_equal(user, limit):
    now = timezone.now()
    for number in range(12):
        conversation_of(
            user,
            title=str(number),
            updated_at=now - timedelta(days=number // 4),
            pinned_at=now if number % 3 == 0 else None,
        )

    assert all_pages(user, limit) == titles(user, limit=100)
    assert len(set(all_pages(user, limit))) == 12


def test_change_while_paging_moves_that_conversation_only(user):
    now = timezone.now()
    rows = [
        conversation_of(user, title=str(n), updated_at=now - timedelta(days=n)) for n in range(6)
    ]
    first = conversations_list(principal=user, limit=3)
    rows[4].updated_at = now
    rows[4].save()

    rest = conversations_list(principal=user, limit=3, cursor=first.next_cursor)

    assert [item.title for item in rest.items] == ["3", "5"]


@pytest.mark.parametrize("cursor", ["x", "bm8", "W10", "%%%", "WzEsMiwzXQ", "ä", "A" * 999])
def test_malformed_cursor_is_refused(user, cursor):
    with pytest.raises(InvalidRequest) as refused:
        conversations_list(principal=user, cursor=cursor)
    assert refused.value.param == "cursor"


@pytest.mark.parametrize("search", ["kangaroo", "KANGA", "garoo", "50% of", "it's", "日本", "ß"])
def test_search_finds_parts_of_words_in_titles_and_messages(user, search):
    text = "A kangaroo is 50% of a jump_er, it's said. 日本語 Straße"
    conversation_of(user, title=text)
    MessageFactory.create(conversation=conversation_of(user, title="In a message"), text=text)
    conversation_of(user, title="Neither")

    assert set(titles(user, search=search)) == {text, "In a message"}


@pytest.mark.parametrize("search", ["%", "_x_", "kangaroo%", "\\"])
def test_search_takes_wildcards_as_letters(user, search):
    conversation_of(user, title="kangaroo")
    assert titles(user, search=search) == []


@pytest.mark.parametrize("search", ["x" * 201, "a\x00b"])
def test_invalid_search_is_refused(user, search):
    with pytest.raises(InvalidRequest) as refused:
        conversations_list(principal=user, search=search)
    assert refused.value.param == "search"


def test_search_uses_an_index(user):
    """With sequential scans made dear, the planner proves that the expressions match."""
    from django.db import connection

    from backend.conversations.models import Message

    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    plan = Message.objects.filter(text__icontains="kangaroo").explain()
    assert "message_text_trgm" in plan


def test_archived_conversations_are_listed_apart(user):
    conversation_of(user, title="kept")
    away = conversation_of(user, title="away")

    conversation_update(principal=user, conversation_id=away.id, archived=True)

    assert titles(user) == ["kept"]
    assert titles(user, archived=True) == ["away"]
    conversation_update(principal=user, conversation_id=away.id, archived=False)
    assert set(titles(user)) == {"kept", "away"}


def test_list_names_conversations_with_a_running_answer(user):
    busy = finished_turns(user, 1, title="busy")
    finished_turns(user, 1, title="idle")
    MessageFactory.create(
        conversation=busy, parent=busy.active_message, role="assistant", status="pending"
    )

    generating = {i.title: i.generating for i in conversations_list(principal=user).items}
    assert generating == {"busy": True, "idle": False}


def test_list_takes_one_query_for_any_length(user, django_assert_num_queries):
    for _ in range(5):
        finished_turns(user, 2)
    with django_assert_num_queries(1):
        conversations_list(principal=user, search="prompt")


def test_deleted_conversation_is_not_found_until_restored(user):
    conversation = conversation_of(user, title="mine")

    conversation_delete(principal=user, conversation_id=conversation.id)
    assert titles(user) == titles(user, search="mine") == []
    with pytest.raises(NotFound):
        conversation_delete(principal=user, conversation_id=conversation.id)
    with pytest.raises(NotFound):
        conversation_update(principal=user, conversation_id=conversation.id, title="x")

    conversation_restore(principal=user, conversation_id=conversation.id)
    assert titles(user) == ["mine"]


def test_rename_and_pin_leave_the_order_alone(user):
    now = timezone.now()
    older = conversation_of(user, title="older", updated_at=now - timedelta(days=1))
    conversation_of(user, title="newer", updated_at=now)

    conversation_update(principal=user, conversation_id=older.id, title="renamed")

    assert titles(user) == ["newer", "renamed"]
    older.refresh_from_db()
    assert older.title_is_manual


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"title": " "}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"title": "a\x00"}, "title"),
        ({"model": ""}, "model"),
        ({"model": "x" * 101}, "model"),
    ],
)
def test_invalid_change_names_its_field(user, change, param):
    conversation = conversation_create(principal=user, model=MODEL)
    with pytest.raises(InvalidRequest) as refused:
        conversation_update(principal=user, conversation_id=conversation.id, **change)
    assert refused.value.param == param
