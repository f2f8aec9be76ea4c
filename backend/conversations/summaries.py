"""Summaries of the beginnings of long chats: which one is read.

When one is made is summary_requests.py's, and how is summarising.py's. A summary belongs to the
message that it ends with, and so holds for exactly the branches that contain all it covers.
"""

from typing import Any
from uuid import UUID

from backend.conversations.models import ChatDefaults, Conversation, ConversationSummary, Message
from backend.conversations.tree import nearest_above

_DELETED = "(This summary was deleted.)"


def summary_for(leaf: Message) -> ConversationSummary | None:
    """What stands for the beginning of the branch that ends with `leaf`, the newest of several."""
    rows = ConversationSummary.objects.filter(conversation_id=leaf.conversation_id)
    among = {row.through_id: row for row in rows}
    if not among:
        return None
    nearest = nearest_above(
        conversation_id=leaf.conversation_id, leaf_id=leaf.pk, among=among.keys()
    )
    return None if nearest is None else among[nearest]


def summary_note(summary: ConversationSummary | None) -> dict[str, Any]:
    """For `Message.sent`; see `summary_noted`."""
    if summary is None:
        return {}
    return {"summary": {"id": str(summary.pk), "through": str(summary.through_id)}}


def summary_noted(answer: Message) -> ConversationSummary | None:
    """The summary that was read for an answer; of one that was deleted since, a row without its
    words that is in no table."""
    noted = (answer.sent or {}).get("summary")
    if noted is None:
        return None
    rows = ConversationSummary.objects.filter(conversation_id=answer.conversation_id)
    return rows.filter(pk=noted["id"]).first() or ConversationSummary(
        conversation_id=answer.conversation_id, through_id=UUID(noted["through"]), text=_DELETED
    )


def summarises_in(conversation: Conversation) -> bool:
    """Whether a chat's beginning is summarised by itself: not of temporary ones, not after an
    undo, and only where its person has switched that on."""
    if conversation.is_temporary or not conversation.summarises:
        return False
    return ChatDefaults.objects.filter(
        organization_id=conversation.organization_id,
        user_id=conversation.user_id,
        summarises=True,
    ).exists()
