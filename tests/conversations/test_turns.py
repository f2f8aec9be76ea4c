"""Turns: nothing that a user wrote is lost, and the tree is what they see."""

import uuid
from typing import Any

import pytest

from backend.conversations.models import Conversation, Message, MessageStatus
from backend.conversations.selectors import branch_get
from backend.conversations.services import conversation_create, conversation_update
from backend.conversations.turns import (
    generation_attach,
    message_finish,
    turn_create,
    turn_regenerate,
)
from backend.conversations.types import ChatMessage
from backend.platform.errors import Conflict, InvalidRequest, NotFound
from tests.factories import MODEL, conversation_of, member

pytestmark = pytest.mark.django_db


def say(text):
    return [{"type": "text", "text": text}]


def answer(turn, text="Fine.", status=MessageStatus.COMPLETED):
    message_finish(
        message_id=turn.assistant_message.id,
        text=text,
        status=status,
        finish_reason="stop",
        input_tokens=7,
        output_tokens=3,
    )


@pytest.fixture
def user():
    return member()


@pytest.fixture
def chat(user) -> Any:
    conversation = conversation_create(principal=user, model=MODEL)

    def ask(text, *, finished="Fine.", **where):
        turn = turn_create(
            principal=user,
            conversation_id=conversation.id,
            parts=say(text),
            model=MODEL,
            **where,
        )
        if finished is not None:
            answer(turn, finished)
        return turn

    ask.id = conversation.id  # type: ignore[attr-defined]
    return ask


def branch(user, chat, **page):
    shown = branch_get(principal=user, conversation_id=chat.id, **page)
    return [item.message.text for item in shown.messages]


def test_turn_is_a_prompt_with_a_pending_answer_below_it(user, chat):
    turn = chat("How are you?", finished=None)

    prompt, pending = Message.objects.order_by("created_at")
    assert (prompt.role, prompt.text, prompt.parent) == ("user", "How are you?", None)
    assert (pending.role, pending.status, pending.parent) == ("assistant", "pending", prompt)
    assert turn.history == [ChatMessage("user", "How are you?")]
    assert Conversation.objects.get().active_message == pending


def test_finished_answer_is_stored_with_its_tokens(user, chat):
    chat("Hi", finished="Hello!")

    stored = Message.objects.get(role="assistant")
    assert stored.text == "Hello!"
    assert stored.content == say("Hello!")
    assert (stored.status, stored.finish_reason) == ("completed", "stop")
    assert (stored.input_tokens, stored.output_tokens) == (7, 3)


def test_answer_is_finished_once(chat):
    turn = chat("Hi", finished="first")

    answer(turn, "second", MessageStatus.FAILED)

    stored = Message.objects.get(role="assistant")
    assert (stored.text, stored.status) == ("first", "completed")


def test_finishing_a_message_that_was_purged_does_nothing():
    message_finish(
        message_id=uuid.uuid4(),
        text="late",
        status="completed",
        finish_reason="stop",
        input_tokens=1,
        output_tokens=1,
    )
    assert not Message.objects.exists()


@pytest.mark.parametrize("text", ["null\x00inside", "half \ud83d pair"])
def test_answer_is_completed_when_postgresql_cannot_store_its_text(chat, text):
    chat("Hi", finished=text)

    stored = Message.objects.get(role="assistant")
    assert stored.status == "completed"
    assert stored.text.split()[0][:4] == text.split()[0][:4]


def test_next_turn_reads_the_whole_branch(chat):
    chat("one", finished="1")
    turn = chat("two", finished=None)

    assert turn.history == [
        ChatMessage("user", "one"),
        ChatMessage("assistant", "1"),
        ChatMessage("user", "two"),
    ]


def test_blocked_prompt_is_shown_to_the_user_and_not_to_the_model(user, chat):
    chat("fine", finished="ok")
    blocked = chat("forbidden", finished=None)
    answer(blocked, "", MessageStatus.BLOCKED)
    turn = chat("next", finished=None)

    assert "forbidden" in branch(user, chat)
    assert [m.content for m in turn.history] == ["fine", "ok", "next"]


def test_halted_answer_stays_in_the_history_with_its_released_text(chat):
    halted = chat("tell me", finished=None)
    answer(halted, "Up to here", MessageStatus.BLOCKED)
    turn = chat("next", finished=None)

    assert [m.content for m in turn.history] == ["tell me", "Up to here", "next"]


def test_prompt_of_a_failed_answer_is_joined_to_the_next(chat):
    failed = chat("first half", finished=None)
    answer(failed, "", MessageStatus.FAILED)
    turn = chat("second half", finished=None)

    assert turn.history == [ChatMessage("user", "first half\n\nsecond half")]


def test_turn_is_refused_while_an_answer_is_being_generated(chat):
    chat("one", finished=None)

    with pytest.raises(Conflict) as refused:
        chat("two")
    assert refused.value.code == "generation_in_progress"
    assert Message.objects.count() == 2


def test_edit_makes_a_branch_beside_the_edited_message(user, chat):
    chat("hello", finished="hi")
    edited = chat("old", finished="to old")
    new = chat("new", finished="to new", parent_id=edited.user_message.parent_id)

    assert branch(user, chat) == ["hello", "hi", "new", "to new"]
    shown = branch_get(principal=user, conversation_id=chat.id).messages
    assert shown[2].siblings == [edited.user_message.id, new.user_message.id]
    assert new.history[-1].content == "new"
    assert all(message.content != "old" for message in new.history)


def test_null_parent_starts_a_new_root(user, chat):
    first = chat("first")
    second = chat("second", parent_id=None)

    shown = branch_get(principal=user, conversation_id=chat.id).messages
    assert shown[0].siblings == [first.user_message.id, second.user_message.id]
    assert second.history == [ChatMessage("user", "second")]


def test_regeneration_adds_an_answer_beside_the_old_one(user, chat):
    first = chat("hello", finished="old")

    again = turn_regenerate(principal=user, message_id=first.assistant_message.id, model="another")
    answer(again, "new")

    assert again.user_message == first.user_message
    assert again.assistant_message.model == "another"
    assert branch(user, chat) == ["hello", "new"]
    shown = branch_get(principal=user, conversation_id=chat.id).messages
    assert shown[1].siblings == [first.assistant_message.id, again.assistant_message.id]


def test_answer_refused_before_it_began_is_no_version(user, chat):
    refused = chat("hello", finished=None)
    message_finish(
        message_id=refused.assistant_message.id,
        text="",
        status=MessageStatus.FAILED,
        finish_reason="error",
        input_tokens=0,
        output_tokens=0,
    )

    again = turn_regenerate(principal=user, message_id=refused.assistant_message.id)
    answer(again, "hello yourself")

    shown = branch_get(principal=user, conversation_id=chat.id).messages
    assert branch(user, chat) == ["hello", "hello yourself"]
    assert shown[1].siblings == [again.assistant_message.id]


def test_regeneration_of_a_prompt_answers_it_again(user, chat):
    first = chat("hello", finished="old")

    again = turn_regenerate(principal=user, message_id=first.user_message.id)

    assert again.assistant_message.parent_id == first.user_message.id
    assert again.assistant_message.model == MODEL


def test_regeneration_is_refused_while_the_answer_is_being_generated(user, chat):
    turn = chat("hello", finished=None)

    with pytest.raises(Conflict):
        turn_regenerate(principal=user, message_id=turn.assistant_message.id)


def test_switch_to_an_old_branch_shows_its_newest_leaf(user, chat):
    old = chat("old", finished="to old")
    chat("older still", finished="deep")
    turn_of_leaf = chat("newest of old", finished="leaf of old")
    chat("new", finished="to new", parent_id=None)
    assert branch(user, chat) == ["new", "to new"]

    conversation_update(
        principal=user, conversation_id=chat.id, active_message_id=old.user_message.id
    )

    assert branch(user, chat)[-1] == "leaf of old"
    assert Conversation.objects.get().active_message_id == turn_of_leaf.assistant_message.id


def test_prompt_is_refused_below_a_prompt(user, chat):
    turn = chat("one")

    with pytest.raises(InvalidRequest) as refused:
        chat("two", parent_id=turn.user_message.id)
    assert refused.value.param == "parent_id"


def test_parent_in_another_conversation_is_not_found(user, chat):
    turn = chat("here")
    elsewhere = conversation_of(user)

    with pytest.raises(NotFound):
        turn_create(
            principal=user,
            conversation_id=elsewhere.id,
            parts=say("there"),
            model=MODEL,
            parent_id=turn.assistant_message.id,
        )
    with pytest.raises(NotFound):
        conversation_update(
            principal=user,
            conversation_id=elsewhere.id,
            active_message_id=turn.assistant_message.id,
        )


@pytest.mark.parametrize(
    "parts",
    [
        [],
        say("   "),
        say("null \x00"),
        say("half \ud83d"),
        say("x" * 1_000_001),
        say("many") * 33,
        [{"type": "text"}],
        [{"type": "text", "text": 5}],
        [{"type": "video", "attachment_id": str(uuid.uuid4())}],
        [{"type": "image", "attachment_id": "not a uuid"}],
        [{"type": "image"}],
    ],
)
def test_invalid_message_is_refused_and_stores_nothing(user, chat, parts):
    with pytest.raises(InvalidRequest) as refused:
        turn_create(principal=user, conversation_id=chat.id, parts=parts, model=MODEL)
    assert refused.value.param == "content"
    assert not Message.objects.exists()


def test_parts_keep_known_fields_only(user, chat):
    turn_create(
        principal=user,
        conversation_id=chat.id,
        parts=[{"type": "text", "text": "hi", "attachment_id": "x", "role": "system"}],
        model=MODEL,
    )
    assert Message.objects.get(role="user").content == say("hi")


def test_generation_is_attached_to_the_pending_answer_only(user, chat):
    turn = chat("hi", finished=None)
    generation_id = uuid.uuid4()

    generation_attach(message_id=turn.assistant_message.id, generation_id=generation_id)

    running = branch_get(principal=user, conversation_id=chat.id).generation
    assert running is not None
    assert (running.id, running.message_id) == (generation_id, turn.assistant_message.id)
    answer(turn)
    with pytest.raises(Conflict):
        generation_attach(message_id=turn.assistant_message.id, generation_id=uuid.uuid4())
    assert Message.objects.get(role="assistant").generation_id == generation_id
    assert branch_get(principal=user, conversation_id=chat.id).generation is None
