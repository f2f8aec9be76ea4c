"""What is erased from the trash is gone at once, and nothing else with it."""

import threading
import time
from datetime import timedelta
from uuid import UUID

import pytest
from django.core.files.storage import default_storage
from django.db import connection, transaction
from django.utils import timezone

from backend.accounts.legal_hold import legal_hold_begin
from backend.accounts.models import Organization, Role
from backend.accounts.principal import Principal
from backend.conversations.models import Attachment, Conversation, Feedback, Message, Passage, Share
from backend.conversations.purge import ErasedTrash, trash_erase
from backend.conversations.selectors import conversations_list
from backend.conversations.services import (
    conversation_delete,
    conversation_restore,
    conversations_change,
)
from backend.conversations.turns import turn_create
from backend.platform.errors import LegallyHeld
from tests.conversations.message_trees import finished_turns
from tests.conversations.test_purge import with_file
from tests.factories import MODEL, conversation_of, member

pytestmark = pytest.mark.django_db


def in_trash(user: Principal, *titles: str) -> list[Conversation]:
    chats = [finished_turns(user, 2, title=title) for title in titles]
    conversations_change(
        principal=user, conversation_ids=[chat.id for chat in chats], action="delete"
    )
    return chats


def trash(user: Principal) -> set[str]:
    return {row.title for row in conversations_list(principal=user, deleted=True).items}


def test_erased_chats_leave_neither_rows_nor_files() -> None:
    user = member()
    chat, file = with_file(user)
    other, other_file = with_file(user)
    Passage.objects.create(attachment=chat.attachments.get(), position=0, text="text")
    for one in (chat, other):
        conversation_delete(principal=user, conversation_id=one.id)

    done = trash_erase(principal=user, conversation_ids=[chat.id])

    assert done == ErasedTrash(erased=1, generating=0, remaining=0)
    assert list(Conversation.objects.all()) == [other]
    assert not Message.objects.exclude(conversation=other).exists()
    assert Share.objects.count() == Feedback.objects.count() == Attachment.objects.count() == 1
    assert not Passage.objects.exists()
    assert not default_storage.exists(file)
    assert default_storage.exists(other_file)
    assert trash_erase(principal=user, conversation_ids=[chat.id]).erased == 0


def test_trash_is_emptied_and_what_is_not_in_it_stays() -> None:
    user = member()
    in_trash(user, "a", "b")
    kept = [conversation_of(user, title="listed"), conversation_of(user, title="archived")]
    conversations_change(principal=user, conversation_ids=[kept[1].id], action="archive")
    ending = conversation_of(user, title="a temporary one whose answer is running")
    late = conversation_of(user, title="past restoring: the purge's")
    now = timezone.now()
    Conversation.objects.filter(pk=ending.pk).update(is_temporary=True, deleted_at=now)
    Conversation.objects.filter(pk=late.pk).update(deleted_at=now - timedelta(days=31))
    kept += [ending, late]

    assert trash_erase(principal=user, conversation_ids=[one.id for one in kept]).erased == 0
    assert trash_erase(principal=user, conversation_ids=None).erased == 2

    assert set(Conversation.objects.all()) == set(kept)


@pytest.mark.parametrize("who", ["a colleague", "the owner", "another tenant", "both"])
def test_trash_of_others_is_left_alone(who: str) -> None:
    user = member()
    [chat] = in_trash(user, "private")
    match who:
        case "a colleague" | "the owner":
            organization = Organization.objects.get(pk=user.organization_id)
            role = Role.OWNER if who == "the owner" else Role.MEMBER
            intruder = member(organization=organization, role=role)
        case "both":  # the same person, in another organization of theirs
            intruder = member()
            intruder = Principal(
                organization_id=intruder.organization_id,
                project_id=intruder.project_id,
                user_id=user.user_id,
                key_id=None,
                role=Role.OWNER,
                plan=intruder.plan,
            )
        case _:
            intruder = member()
    nothing = ErasedTrash(erased=0, generating=0, remaining=0)

    assert trash_erase(principal=intruder, conversation_ids=[chat.id]) == nothing
    assert trash_erase(principal=intruder, conversation_ids=None) == nothing

    assert trash(user) == {"private"}
    assert Message.objects.filter(conversation=chat).count() == 4


def test_chat_is_left_while_an_answer_is_generated_in_it() -> None:
    user = member()
    in_trash(user, "finished")
    chat = conversation_of(user, title="running")
    turn = turn_create(
        principal=user,
        conversation_id=chat.id,
        parts=[{"type": "text", "text": "hi"}],
        model=MODEL,
    )
    conversation_delete(principal=user, conversation_id=chat.id)

    done = trash_erase(principal=user, conversation_ids=None)

    assert done == ErasedTrash(erased=1, generating=1, remaining=0)
    assert trash(user) == {"running"}
    answer = Message.objects.filter(pk=turn.assistant_message.pk)
    assert answer.get().status == "pending"
    answer.update(status="completed")
    assert trash_erase(principal=user, conversation_ids=[chat.id]).erased == 1


@pytest.mark.parametrize("held", ["user", "organization"])
def test_legal_hold_refuses_and_keeps_everything(held: str) -> None:
    user = member()
    [chat] = in_trash(user, "evidence")
    if held == "user":
        legal_hold_begin(reason="Court", user_id=user.user_id)
    else:
        legal_hold_begin(reason="Court", organization_id=user.organization_id)

    chosen: list[UUID] | None
    for chosen in ([chat.id], None):
        with pytest.raises(LegallyHeld, match="legal hold"):
            trash_erase(principal=user, conversation_ids=chosen)

    assert trash(user) == {"evidence"}


def test_large_trash_is_erased_in_several_calls() -> None:
    user = member()
    in_trash(user, "a", "b", "c")

    left = [
        trash_erase(principal=user, conversation_ids=None, seconds=0).remaining for _ in range(3)
    ]

    assert left == [2, 1, 0]


@pytest.mark.django_db(transaction=True)
def test_chat_that_is_restored_meanwhile_stays() -> None:
    user = member()
    [chat] = in_trash(user, "wanted after all")
    done: list[ErasedTrash] = []

    def erase() -> None:
        try:
            done.append(trash_erase(principal=user, conversation_ids=[chat.id]))
        finally:
            connection.close()

    thread = threading.Thread(target=erase)
    with transaction.atomic():
        conversation_restore(principal=user, conversation_id=chat.id)
        thread.start()
        _wait_until_a_lock_is_waited_for()
    thread.join(timeout=30)

    assert done == [ErasedTrash(erased=0, generating=0, remaining=0)]
    assert Message.objects.filter(conversation=chat).count() == 4


def _wait_until_a_lock_is_waited_for() -> None:
    deadline = time.monotonic() + 60
    with connection.cursor() as cursor:
        while True:
            # In a transaction PostgreSQL says again what it said first, unless it is told to look.
            cursor.execute("SELECT pg_stat_clear_snapshot()")
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            if cursor.fetchone()[0]:
                return
            assert time.monotonic() < deadline
            time.sleep(0.02)
