"""A user's tabs hear of what changed, on commit, and nobody else's do."""

import asyncio
import uuid

import pytest
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.db import transaction

from backend.conversations.models import Conversation
from backend.conversations.notify import user_group
from backend.conversations.services import (
    conversation_create,
    conversation_delete,
    conversation_update,
)
from backend.conversations.turns import generation_attach, message_finish, turn_create
from tests.factories import MODEL, member

pytestmark = pytest.mark.django_db(transaction=True)


class Tab:
    """What one open tab receives."""

    async def open(self, principal):
        self.layer = get_channel_layer()
        self.channel = await self.layer.new_channel()
        await self.layer.group_add(user_group(principal.user_id), self.channel)
        return self

    async def next(self):
        return await asyncio.wait_for(self.layer.receive(self.channel), timeout=60)

    async def hears_nothing(self):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(self.layer.receive(self.channel), timeout=0.3)


async def test_events_of_a_turn_arrive_in_order():
    user, other = await sync_to_async(member)(), await sync_to_async(member)()
    tab, others_tab = await Tab().open(user), await Tab().open(other)

    conversation = await sync_to_async(conversation_create)(principal=user, model=MODEL)
    turn = await sync_to_async(turn_create)(
        principal=user,
        conversation_id=conversation.id,
        parts=[{"type": "text", "text": "hi"}],
        model=MODEL,
    )
    generation_id = uuid.uuid4()
    answer_id = turn.assistant_message.id
    await sync_to_async(generation_attach)(message_id=answer_id, generation_id=generation_id)
    await sync_to_async(message_finish)(
        message_id=answer_id,
        text="hello",
        status="cancelled",
        finish_reason="",
        input_tokens=1,
        output_tokens=1,
    )
    await sync_to_async(conversation_update)(
        principal=user, conversation_id=conversation.id, title="Greeting"
    )
    await sync_to_async(conversation_delete)(principal=user, conversation_id=conversation.id)

    where = {"conversation_id": str(conversation.id)}
    which = {"generation_id": str(generation_id), "message_id": str(answer_id)}
    assert [await tab.next() for _ in range(6)] == [
        {"type": "conversation.changed", **where},
        {"type": "conversation.changed", **where},
        {"type": "generation.started", **where, **which},
        {"type": "generation.finished", **where, **which},
        {"type": "conversation.changed", **where},
        {"type": "conversation.deleted", **where},
    ]
    await others_tab.hears_nothing()


async def test_event_of_a_rolled_back_transaction_is_not_sent():
    user = await sync_to_async(member)()
    tab = await Tab().open(user)

    def attempt():
        with transaction.atomic():
            conversation_create(principal=user, model=MODEL)
            transaction.set_rollback(True)

    await sync_to_async(attempt)()

    await tab.hears_nothing()


async def test_commit_succeeds_when_redis_is_unreachable(settings):
    user = await sync_to_async(member)()
    settings.CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {"hosts": ["redis://127.0.0.1:9/0"]},
        }
    }

    await sync_to_async(conversation_create)(principal=user, model=MODEL)

    assert await Conversation.objects.acount() == 1
