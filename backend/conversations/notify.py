"""Events to a user's open tabs, sent when the transaction commits.

An event says that something changed and where, never what: the tab asks the API, which checks
who asks. Delivery is at most once; a tab that reconnects reloads its list.
"""

from typing import Literal
from uuid import UUID

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction

EventType = Literal[
    "conversation.changed", "conversation.deleted", "generation.started", "generation.finished"
]


def user_group(user_id: UUID) -> str:
    """The channel-layer group that all tabs of a user are in."""
    return f"user.{user_id}"


def notify(
    event: EventType,
    *,
    user_id: UUID,
    conversation_id: UUID,
    generation_id: UUID | None = None,
    message_id: UUID | None = None,
) -> None:
    """Tell the user's tabs, once the surrounding transaction has committed.

    Robust: a Redis that is away must not fail what was committed already.
    """
    payload = {"type": event, "conversation_id": str(conversation_id)}
    if generation_id is not None:
        payload["generation_id"] = str(generation_id)
    if message_id is not None:
        payload["message_id"] = str(message_id)
    group = user_group(user_id)

    def send() -> None:
        async_to_sync(get_channel_layer().group_send)(group, payload)

    # A function and not a partial: Django names a robust hook that fails by its __qualname__.
    transaction.on_commit(send, robust=True)
