"""A pending answer whose process is gone fails within seconds, and the chat goes on."""

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from backend.accounts.principal import Principal
from backend.conversations.models import Message, MessageStatus
from backend.conversations.orphaned_turns import orphaned_turns_fail, turns_renew
from backend.conversations.services import conversation_create
from backend.conversations.turns import TURN_CLAIM, generation_attach, turn_create
from backend.conversations.types import Turn
from backend.platform.errors import Conflict
from tests.factories import MODEL, member

pytestmark = pytest.mark.django_db

SECOND = timedelta(seconds=1)


@pytest.fixture
def principal() -> Principal:
    return member()


def ask(principal: Principal, conversation_id: uuid.UUID, text: str) -> Turn:
    return turn_create(
        principal=principal,
        conversation_id=conversation_id,
        parts=[{"type": "text", "text": text}],
        model=MODEL,
    )


def test_answer_fails_when_its_claim_has_lapsed(principal):
    chat = conversation_create(principal=principal, model=MODEL)
    turn = ask(principal, chat.pk, "lost")
    assert orphaned_turns_fail() == 0
    with pytest.raises(Conflict):
        ask(principal, chat.pk, "again")

    assert orphaned_turns_fail(now=timezone.now() + TURN_CLAIM) == 1
    turn.assistant_message.refresh_from_db()
    assert turn.assistant_message.status == MessageStatus.FAILED
    assert ask(principal, chat.pk, "again").history[-1].content == "lost\n\nagain"


def test_claim_that_is_renewed_keeps_the_answer(principal):
    chat = conversation_create(principal=principal, model=MODEL)
    turn = ask(principal, chat.pk, "slow")
    Message.objects.update(claimed_until=timezone.now() - SECOND)
    turns_renew([turn.assistant_message.pk])
    assert orphaned_turns_fail() == 0


def test_answer_with_a_generation_is_left_to_it(principal):
    chat = conversation_create(principal=principal, model=MODEL)
    turn = ask(principal, chat.pk, "running")
    generation_attach(message_id=turn.assistant_message.pk, generation_id=uuid.uuid4())
    assert orphaned_turns_fail(now=timezone.now() + timedelta(hours=2)) == 0


def test_stalled_process_begins_nothing_for_a_failed_answer(principal):
    chat = conversation_create(principal=principal, model=MODEL)
    turn = ask(principal, chat.pk, "stalled")
    orphaned_turns_fail(now=timezone.now() + TURN_CLAIM)
    with pytest.raises(Conflict):
        generation_attach(message_id=turn.assistant_message.pk, generation_id=uuid.uuid4())


def test_answer_of_an_older_release_fails_after_minutes(principal):
    chat = conversation_create(principal=principal, model=MODEL)
    ask(principal, chat.pk, "unclaimed")
    Message.objects.update(claimed_until=None)
    assert orphaned_turns_fail(now=timezone.now() + timedelta(minutes=14)) == 0
    assert orphaned_turns_fail(now=timezone.now() + timedelta(minutes=16)) == 1
