"""The shown branch, page by page, in a conversation of ten thousand messages."""

import uuid
from collections.abc import Iterator

import pytest
from django.db import connection
from django.test import TransactionTestCase
from pytest_django import DjangoDbBlocker

from backend.accounts.principal import Principal
from backend.conversations.models import Conversation
from backend.conversations.selectors import branch_get
from backend.conversations.services import conversation_update
from backend.conversations.turns import turn_create
from backend.platform.errors import NotFound
from tests.conversations.message_trees import finished_turns
from tests.factories import MODEL, member
from tests.support import database

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def long_one(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[tuple[Principal, Conversation]]:
    """A user, and their conversation of ten thousand messages, written once: what a test changes of
    it is taken back at the test's end."""
    with django_db_blocker.unblock():
        user = member()
        conversation = finished_turns(user, 5000)
    yield user, conversation
    with django_db_blocker.unblock():
        database.restore(TransactionTestCase())


def test_pages_from_end_to_start_are_the_branch():
    user = member()
    conversation = finished_turns(user, 11)
    pages: list[list[str]] = []
    before = None
    while True:
        page = branch_get(principal=user, conversation_id=conversation.id, limit=4, before=before)
        pages.insert(0, [item.message.text for item in page.messages])
        if not page.has_more:
            break
        before = page.messages[0].message.id

    shown = [text for page in pages for text in page]
    assert shown == [f"{word} {n}" for n in range(11) for word in ("prompt", "answer")]


def test_empty_conversation_has_an_empty_branch():
    user = member()
    conversation = finished_turns(user, 0)

    branch = branch_get(principal=user, conversation_id=conversation.id)

    assert (branch.messages, branch.has_more) == ([], False)
    assert branch.generation is None


def test_page_before_the_first_message_is_empty():
    user = member()
    conversation = finished_turns(user, 1)
    first = branch_get(principal=user, conversation_id=conversation.id).messages[0].message

    branch = branch_get(principal=user, conversation_id=conversation.id, before=first.id)

    assert (branch.messages, branch.has_more) == ([], False)


def test_unknown_cursor_is_not_found():
    user = member()
    conversation = finished_turns(user, 1)
    elsewhere = finished_turns(user, 1)
    for before in (uuid.uuid4(), elsewhere.active_message_id):
        with pytest.raises(NotFound):
            branch_get(principal=user, conversation_id=conversation.id, before=before)


def test_branch_takes_as_many_queries_for_ten_thousand_messages(
    long_one, django_assert_num_queries
):
    user, long = long_one
    short = finished_turns(user, 5)

    for conversation in (short, long):
        with django_assert_num_queries(5):
            page = branch_get(principal=user, conversation_id=conversation.id, limit=50)
        assert page.messages[-1].message.text == f"answer {4 if conversation is short else 4999}"
    whole = branch_get(principal=user, conversation_id=long.id, limit=10_000)
    assert len(whole.messages) == 10_000
    assert whole.messages[0].message.text == "prompt 0"


def test_page_of_a_long_branch_reads_its_own_messages_only(long_one):
    user, long = long_one
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE conversations_message")
    before = messages_read()
    branch_get(principal=user, conversation_id=long.id, limit=50)
    assert messages_read() - before < 10 * 50


def messages_read() -> int:
    """So many rows of messages this transaction has read."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables"
            " WHERE relname = 'conversations_message'"
        )
        return int(cursor.fetchone()[0])


def test_turn_after_ten_thousand_messages_reads_them_in_one_query(
    long_one, django_assert_max_num_queries
):
    user, conversation = long_one

    with django_assert_max_num_queries(12) as queries:
        turn = turn_create(
            principal=user,
            conversation_id=conversation.id,
            parts=[{"type": "text", "text": "and now?"}],
            model=MODEL,
        )

    assert sum("RECURSIVE" in query["sql"] for query in queries.captured_queries) == 1
    assert len(turn.history) == 10_001
    assert turn.history[-1].content == "and now?"


def test_switch_in_ten_thousand_messages_finds_the_leaf(long_one):
    user, conversation = long_one
    leaf = conversation.active_message_id
    root = conversation.messages.get(parent=None)

    changed = conversation_update(
        principal=user, conversation_id=conversation.id, active_message_id=root.id
    )

    assert changed.active_message_id == leaf


def test_long_branch_is_fast_when_table_statistics_are_stale(long_one):
    """Autovacuum may look while ten thousand messages are uncommitted, and then sees none."""
    user, conversation = long_one
    root = conversation.messages.get(parent=None)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE pg_class SET reltuples = 0, relpages = pg_relation_size(oid) / 8192"
            " WHERE relname LIKE 'conversations_message%%'"
        )
        # Far above what lookups by index take anywhere, far below what comparing all with all does.
        cursor.execute("SET LOCAL statement_timeout = '15s'")

    whole = branch_get(principal=user, conversation_id=conversation.id, limit=10_000)
    changed = conversation_update(
        principal=user, conversation_id=conversation.id, active_message_id=root.id
    )

    assert len(whole.messages) == 10_000
    assert changed.active_message_id == conversation.active_message_id


def test_history_is_read_up_to_the_context_window_only():
    user = member()
    conversation = finished_turns(user, 1000)

    turn = turn_create(
        principal=user,
        conversation_id=conversation.id,
        parts=[{"type": "text", "text": "last"}],
        model=MODEL,
        room_for=lambda model: 60 if model == MODEL else 0,
    )

    assert [message.content for message in turn.history] == [
        "prompt 998",
        "answer 998",
        "prompt 999",
        "answer 999",
        "last",
    ]
