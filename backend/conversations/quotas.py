"""Quotas of one person by their plan: conversations, and bytes attached to them."""

from uuid import UUID

from django.db.models import Sum

from backend.accounts.models import Plan
from backend.accounts.principal import Principal
from backend.conversations.models import Attachment, Conversation
from backend.platform.database import transaction_lock
from backend.platform.errors import InsufficientQuota


def conversation_room_check(principal: Principal) -> None:
    """Whether the caller may begin one more conversation. Deleted ones count until they are erased.

    Holds a lock until the transaction ends, so that requests at once do not pass the limit.

    Raises:
        InsufficientQuota: `too_many_conversations`.
    """
    allowed = _plan_of(principal).conversations
    if allowed is None:
        return
    transaction_lock(f"conversations.room.{principal.user_id}")
    if Conversation.objects.filter(**_theirs(principal)).count() >= allowed:
        raise InsufficientQuota(
            f"You have {allowed:,} conversations, as many as your plan allows. Delete some; they"
            " count until they are erased.",
            code="too_many_conversations",
        )


def attachment_room_check(principal: Principal, size: int) -> None:
    """Whether the caller may store `size` bytes more of attachments; locks as above.

    Raises:
        InsufficientQuota: `attachment_storage_exceeded`.
    """
    allowed = _plan_of(principal).attachment_bytes
    transaction_lock(f"attachments.room.{principal.user_id}")
    stored = Attachment.objects.filter(**_theirs(principal))
    used = stored.aggregate(all=Sum("size"))["all"] or 0
    if used + size > allowed:
        raise InsufficientQuota(
            f"Your attachments take {used:,} bytes, of {allowed:,} that your plan allows; this one"
            f" has {size:,}. Delete chats with files that you need no longer.",
            code="attachment_storage_exceeded",
        )


def _plan_of(principal: Principal) -> Plan:
    return Plan.objects.get(organization=principal.organization_id)


def _theirs(principal: Principal) -> dict[str, UUID]:
    return {"organization_id": principal.organization_id, "user_id": principal.user_id}
