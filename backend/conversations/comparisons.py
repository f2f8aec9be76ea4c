"""Answers of several models to one prompt, side by side until one of them is chosen (0355)."""

from backend.conversations.models import Conversation, Message, MessageRole

PLACE = "place"
"""In `Message.sent` of an answer beside the first: they are begun at once, in no order."""


def compared_answers(conversation: Conversation) -> list[Message]:
    """The newest answer of each model, in the order of their places; none where
    nothing is compared, or the chat shows another branch."""
    if conversation.compared_prompt_id is None:
        return []
    rows = Message.objects.filter(
        conversation=conversation,
        parent_id=conversation.compared_prompt_id,
        role=MessageRole.ASSISTANT,
    ).order_by("created_at")
    by_model: dict[str, Message] = {}
    is_shown = False
    for message in rows:
        by_model[message.model] = message
        is_shown = is_shown or message.pk == conversation.active_message_id
    if not is_shown or len(by_model) < 2:
        return []
    return sorted(by_model.values(), key=lambda message: (message.sent or {}).get(PLACE, 0))
