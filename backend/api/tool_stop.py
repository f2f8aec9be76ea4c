"""Stopping a turn whose tools are called, also in the moment in which it goes on without them."""

import asyncio
from uuid import UUID

from backend.accounts.principal import Principal
from backend.conversations.models import Message, MessageStatus
from backend.conversations.selectors import conversation_get
from backend.generation.gateway import Gateway
from backend.generation.service import generation_cancel
from backend.platform.database import in_database
from backend.tools.stopping import round_stop

_LOOK_S = 0.1
_LOOKS = 50


async def turn_stop(gateway: Gateway, principal: Principal, conversation_id: UUID) -> None:
    """End the turn: its calls, or the answer that has just begun to read their results, which may
    not have its generation yet. Twice is fine. Raises NotFound."""
    for _ in range(_LOOKS):
        if await in_database(round_stop, principal=principal, conversation_id=conversation_id):
            return
        answer = await in_database(_pending, principal, conversation_id)
        if answer is None:
            return
        if answer.generation_id is not None:
            await generation_cancel(gateway, answer.generation_id, principal=principal)
            return
        await asyncio.sleep(_LOOK_S)


def _pending(principal: Principal, conversation_id: UUID) -> Message | None:
    conversation = conversation_get(principal=principal, conversation_id=conversation_id)
    rows = Message.objects.filter(conversation=conversation, status=MessageStatus.PENDING)
    return next((row for row in rows if row.pk == conversation.active_message_id), None)
