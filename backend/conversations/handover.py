"""What becomes of a leaving member's chats: deleted, or another member's from now on. What is
remembered of them is forgotten."""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from backend.conversations.models import Attachment, Conversation, Memory, Message, Share


@transaction.atomic
def conversations_delete_of_member(*, organization_id: UUID, user_id: UUID) -> int:
    """Hide those of one organization. Final after CONVERSATION_RETENTION_DAYS. How many."""
    _forget(organization_id, user_id)
    theirs = Conversation.objects.filter(
        organization_id=organization_id, user_id=user_id, deleted_at=None
    )
    return theirs.update(deleted_at=timezone.now())


@transaction.atomic
def conversations_hand_over(*, organization_id: UUID, user_id: UUID, to: UUID) -> int:
    """Conversations, with files and links, become those of the member `to`. What was deleted
    stays the leaving member's and goes in its time. Returns how many."""
    theirs = Conversation.objects.filter(
        organization_id=organization_id, user_id=user_id, deleted_at=None
    )
    ids = list(theirs.values_list("pk", flat=True))
    _forget(organization_id, user_id)
    # What was proposed of their words, and the prompts that held what was remembered of them.
    messages = Message.objects.filter(conversation_id__in=ids)
    messages.filter(memory__isnull=False).update(memory=None)
    messages.filter(sent__has_key="memories").update(sent=None)
    Attachment.objects.filter(conversation_id__in=ids).update(user_id=to)
    Share.objects.filter(conversation_id__in=ids).update(created_by_id=to)
    return Conversation.objects.filter(pk__in=ids).update(user_id=to)


def _forget(organization_id: UUID, user_id: UUID) -> None:
    Memory.objects.filter(organization_id=organization_id, user_id=user_id).delete()
