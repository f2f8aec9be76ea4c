"""What becomes of a leaving member's chats: deleted, or another member's from now on."""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from backend.conversations.models import Attachment, Conversation, Share


def conversations_delete_of_member(*, organization_id: UUID, user_id: UUID) -> int:
    """Hide those of one organization. Final after CONVERSATION_RETENTION_DAYS. How many."""
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
    Attachment.objects.filter(conversation_id__in=ids).update(user_id=to)
    Share.objects.filter(conversation_id__in=ids).update(created_by_id=to)
    return Conversation.objects.filter(pk__in=ids).update(user_id=to)
