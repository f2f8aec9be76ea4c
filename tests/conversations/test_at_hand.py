"""Several conversations at once, the trash, and temporary chats."""

from datetime import timedelta

import pytest
from django.utils import timezone

from backend.accounts.models import Organization
from backend.accounts.principal import Principal
from backend.conversations.models import Conversation, Message
from backend.conversations.purge import conversation_end, temporary_conversations_purge
from backend.conversations.selectors import conversations_list
from backend.conversations.services import (
    BulkAction,
    conversation_create,
    conversations_change,
)
from tests.conversations.message_trees import finished_turns
from tests.factories import MODEL, conversation_of, member

pytestmark = pytest.mark.django_db


def titles(user: Principal, *, archived: bool = False, deleted: bool = False) -> set[str]:
    page = conversations_list(principal=user, archived=archived, deleted=deleted)
    return {row.title for row in page.items}


def change(user: Principal, action: BulkAction, *chats: Conversation) -> int:
    ids = [chat.id for chat in chats]
    return conversations_change(principal=user, conversation_ids=ids, action=action)


def test_many_conversations_are_archived_deleted_and_restored_at_once() -> None:
    user = member()
    a, b, c = (conversation_of(user, title=title) for title in "abc")
    assert change(user, "archive", a, b) == 2
    assert titles(user, archived=True) == {"a", "b"}
    assert change(user, "delete", a, c) == 2
    assert titles(user) == set()
    assert titles(user, deleted=True) == {"a", "c"}
    assert change(user, "restore", a, b, c) == 2
    assert titles(user, deleted=True) == set()
    assert titles(user) == {"c"}


def test_conversations_of_others_are_left_alone() -> None:
    owner = member()
    chat = conversation_of(owner, title="private")
    organization = Organization.objects.get(pk=owner.organization_id)
    for intruder in (member(), member(organization=organization)):
        for action in ("archive", "delete", "restore"):
            assert change(intruder, action, chat) == 0
        assert titles(intruder, deleted=True) == set()
    chat.refresh_from_db()
    assert (chat.archived_at, chat.deleted_at) == (None, None)


def test_trash_ends_where_restoring_does() -> None:
    user = member()
    chat = conversation_of(user, title="old")
    Conversation.objects.update(deleted_at=timezone.now() - timedelta(days=31))
    assert titles(user, deleted=True) == set()
    assert change(user, "restore", chat) == 0


def test_temporary_chat_is_in_no_list_and_leaves_nothing() -> None:
    user = member()
    chat = finished_turns(user, 2, title="secret plans")
    Conversation.objects.filter(pk=chat.pk).update(is_temporary=True)
    assert titles(user) == titles(user, deleted=True) == set()
    assert conversations_list(principal=user, search="prompt").items == []
    conversation_end(principal=user, conversation_id=chat.id)
    assert not Conversation.objects.exists()
    assert not Message.objects.exists()


def test_temporary_chat_without_an_end_is_erased_after_an_hour() -> None:
    user = member()
    chat = conversation_create(principal=user, model=MODEL, temporary=True)
    kept = conversation_create(principal=user, model=MODEL)
    assert temporary_conversations_purge() == 0
    later = timezone.now() + timedelta(minutes=61)
    assert temporary_conversations_purge(now=later) == 1
    assert list(Conversation.objects.values_list("pk", flat=True)) == [kept.pk]
    assert chat.pk != kept.pk
