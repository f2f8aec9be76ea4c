"""The end of what was deleted. Files go before rows: a crash in between leaves rows that the
next run finds again, and never a file that nothing points to."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from backend.conversations.models import Attachment, Conversation, Message, MessageStatus
from backend.conversations.turns import message_finish

UNUSED_UPLOAD_AGE = timedelta(days=1)
ORPHANED_TURN_AGE = timedelta(minutes=15)

log = structlog.get_logger(__name__)


def deleted_conversations_purge(*, now: datetime | None = None) -> int:
    """Erase conversations deleted CONVERSATION_RETENTION_DAYS ago, with messages and files.

    One transaction each, so that one failure does not keep the others. An answer that is still
    being generated puts its conversation off to the next run.

    Returns:
        How many were erased.
    """
    before = (now or timezone.now()) - timedelta(days=settings.CONVERSATION_RETENTION_DAYS)
    return sum(_purge(conversation_id, before) for conversation_id in _due(before))


def unused_uploads_purge(*, now: datetime | None = None) -> int:
    """Erase uploads of yesterday that no message ever used. Returns how many."""
    before = (now or timezone.now()) - UNUSED_UPLOAD_AGE
    unused = Attachment.objects.filter(conversation=None, created_at__lt=before)
    erased = 0
    for attachment_id in unused.values_list("pk", flat=True).iterator():
        with transaction.atomic():
            # Locked and read again: a message may be claiming it at this moment.
            attachment = unused.select_for_update().filter(pk=attachment_id).first()
            if attachment is not None:
                attachment.file.delete(save=False)
                attachment.delete()
                erased += 1
    return erased


def orphaned_turns_fail(*, now: datetime | None = None) -> int:
    """End answers whose process died between storing the turn and starting a Generation.

    From the Generation on, failover and the reaper end it.

    Returns:
        How many were ended.
    """
    before = (now or timezone.now()) - ORPHANED_TURN_AGE
    orphaned = Message.objects.filter(
        status=MessageStatus.PENDING, generation_id=None, created_at__lt=before
    )
    ids = list(orphaned.values_list("pk", flat=True))
    for message_id in ids:
        message_finish(
            message_id=message_id,
            text="",
            status=MessageStatus.FAILED,
            finish_reason="",
            input_tokens=0,
            output_tokens=0,
        )
    return len(ids)


def _due(before: datetime) -> Iterator[UUID]:
    running = Message.objects.filter(conversation=OuterRef("pk"), status=MessageStatus.PENDING)
    return (
        Conversation.objects.filter(~Exists(running), deleted_at__lt=before)
        .values_list("pk", flat=True)
        .iterator()
    )


@transaction.atomic
def _purge(conversation_id: UUID, before: datetime) -> int:
    conversation = (
        Conversation.objects.select_for_update()
        .filter(pk=conversation_id, deleted_at__lt=before)
        .first()
    )
    if conversation is None:
        return 0  # restored, or purged by another worker, since the list was made
    for attachment in conversation.attachments.all():
        attachment.file.delete(save=False)
    conversation.delete()
    log.info("conversation_purged", conversation_id=str(conversation_id))
    return 1
