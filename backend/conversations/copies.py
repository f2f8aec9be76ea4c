"""What a link shows, as a conversation of the reader's own, to go on with."""

from datetime import datetime
from uuid import uuid4

from django.db import transaction

from backend.accounts.principal import Principal
from backend.conversations.models import Conversation, Message
from backend.conversations.parts import text_parts
from backend.conversations.services import conversation_create
from backend.conversations.shares import shared_get


@transaction.atomic
def share_copy(*, principal: Principal, token: str, model: str) -> Conversation:
    """A new conversation of the caller with the messages of the link; files stay behind.

    It begins with the caller's own defaults and in their project, knows nothing of where it came
    from, and stays when the link ends.

    Args:
        model: that its next turn asks for.
    Raises:
        NotFound: the link leads nowhere (shares.shared_get).
    """
    share = shared_get(token=token)
    conversation = conversation_create(principal=principal, model=model, title=share.title)
    messages: list[Message] = []
    for shown in share.snapshot:
        messages.append(
            Message(
                id=uuid4(),
                conversation=conversation,
                parent=messages[-1] if messages else None,
                role=shown["role"],
                content=text_parts(shown["content"]),
                text=shown["content"],
                model=share.model if shown["role"] == "assistant" else "",
                created_at=datetime.fromisoformat(shown["created_at"]),
            )
        )
    Message.objects.bulk_create(messages)
    conversation.active_message = messages[-1]
    conversation.save(update_fields=["active_message"])
    return conversation
