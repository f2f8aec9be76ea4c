"""The end of what was deleted. Files go before rows: a crash in between leaves rows that the
next run finds again, and never a file that nothing points to."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from backend.accounts.data_policy import organizations_with_retention, projects_with_retention
from backend.accounts.legal_hold import refuse_held, without_held
from backend.accounts.models import Project
from backend.accounts.principal import Principal
from backend.conversations.models import Attachment, Conversation, Message, MessageStatus
from backend.conversations.notify import notify
from backend.conversations.selectors import trash_of
from backend.conversations.services import conversation_delete

UNUSED_UPLOAD_AGE = timedelta(days=1)
TEMPORARY_AGE = timedelta(hours=1)
ERASE_SECONDS = 2.0  # of one call of `trash_erase`, whose caller holds a connection

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ErasedTrash:
    """What became of conversations that were to be erased.

    Attributes:
        generating: left in the trash, as an answer is still being generated in them.
        remaining: not reached in this call.
    """

    erased: int
    generating: int
    remaining: int


def deleted_conversations_purge(*, now: datetime | None = None) -> int:
    """Erase conversations deleted CONVERSATION_RETENTION_DAYS ago, with messages and files.

    One transaction each, so that one failure does not keep the others. An answer that is still
    being generated puts its conversation off to the next run.

    Returns:
        How many were erased.
    """
    before = (now or timezone.now()) - timedelta(days=settings.CONVERSATION_RETENTION_DAYS)
    return sum(_purge(conversation_id, before) for conversation_id in _due(before))


def overdue_conversations_purge(*, now: datetime | None = None) -> int:
    """Erase conversations whose last turn is older than their organization, or their project,
    keeps them. Without a project they are of the default one.

    Returns:
        How many were erased.
    """
    moment = now or timezone.now()
    kept = [
        (Q(organization_id=organization_id), days)
        for organization_id, days in organizations_with_retention()
    ]
    for project_id, days in projects_with_retention():
        kept.append((Q(project_id=project_id), days))
        default = Project.objects.filter(pk=project_id, is_default=True).first()
        if default is not None:
            without = Q(project=None, organization_id=default.organization_id)
            kept.append((without, days))
    erased = 0
    for which, days in kept:
        rows = Conversation.objects.filter(which, updated_at__lte=moment - timedelta(days=days))
        for conversation_id in list(_purgeable(rows).values_list("pk", flat=True)):
            erased += _erase(rows, conversation_id)
    return erased


def temporary_conversations_purge(*, now: datetime | None = None) -> int:
    """Erase temporary chats that were ended, or had no turn for an hour. Returns how many."""
    before = (now or timezone.now()) - TEMPORARY_AGE
    ended = Conversation.objects.filter(
        Q(deleted_at__isnull=False) | Q(updated_at__lt=before), is_temporary=True
    )
    due = list(_purgeable(ended).values_list("pk", flat=True))
    return sum(_erase(ended, conversation_id) for conversation_id in due)


def conversation_end(*, principal: Principal, conversation_id: UUID) -> None:
    """Delete a conversation; a temporary one is erased at once. Where an answer is still being
    generated in it, that happens within a minute of its end; under a legal hold it stays.

    Raises:
        NotFound: also when it is deleted already.
    """
    conversation_delete(principal=principal, conversation_id=conversation_id)
    ended = Conversation.objects.filter(pk=conversation_id, is_temporary=True)
    if _purgeable(ended).exists():
        _erase(ended, conversation_id)


def trash_erase(
    *, principal: Principal, conversation_ids: Sequence[UUID] | None, seconds: float = ERASE_SECONDS
) -> ErasedTrash:
    """Erase what the caller has in their trash before its time, as the purge does: one transaction
    each, files first. It cannot be undone. What is not in their trash is left alone.

    Args:
        conversation_ids: None is all of it.
        seconds: after which no further one is begun.
    Raises:
        LegallyHeld: a hold keeps the caller's data; nothing was erased.
    """
    refuse_held(organization_id=principal.organization_id, user_id=principal.user_id)
    chosen = trash_of(principal)
    if conversation_ids is not None:
        chosen = chosen.filter(pk__in=conversation_ids)
    erasable = _purgeable(chosen)
    ids = list(erasable.order_by("pk").values_list("pk", flat=True))
    erased, until = 0, time.monotonic() + seconds
    for place, conversation_id in enumerate(ids):
        # The first is erased however long it takes, so that calls in a row come to an end.
        if place and time.monotonic() > until:
            break
        if _erase(erasable, conversation_id):
            erased += 1
            notify(
                "conversation.deleted",
                user_id=principal.user_id,
                conversation_id=conversation_id,
            )
    remaining = erasable.count()
    return ErasedTrash(erased=erased, generating=chosen.count() - remaining, remaining=remaining)


def unused_uploads_purge(*, now: datetime | None = None) -> int:
    """Erase uploads of yesterday that nothing uses. Returns how many."""
    before = (now or timezone.now()) - UNUSED_UPLOAD_AGE
    unused = without_held(
        Attachment.objects.filter(
            conversation=None, project=None, assistant=None, created_at__lt=before
        ),
        organization="organization_id",
        user="user_id",
    )
    erased = 0
    for attachment_id in unused.values_list("pk", flat=True).iterator():
        with transaction.atomic():
            # Locked and read again: a message may be claiming it at this moment.
            attachment = unused.select_for_update(of=("self",)).filter(pk=attachment_id).first()
            if attachment is not None:
                attachment.file.delete(save=False)
                attachment.delete()
                erased += 1
    return erased


def _due(before: datetime) -> Iterator[UUID]:
    deleted = Conversation.objects.filter(deleted_at__lt=before)
    return _purgeable(deleted).values_list("pk", flat=True).iterator()


def _purgeable(rows: QuerySet[Conversation]) -> QuerySet[Conversation]:
    """Without those in which an answer is being generated, or that a legal hold keeps."""
    running = Message.objects.filter(conversation=OuterRef("pk"), status=MessageStatus.PENDING)
    return without_held(
        rows.filter(~Exists(running)), organization="organization_id", user="user_id"
    )


def _purge(conversation_id: UUID, before: datetime) -> int:
    return _erase(Conversation.objects.filter(deleted_at__lt=before), conversation_id)


@transaction.atomic
def _erase(rows: QuerySet[Conversation], conversation_id: UUID) -> int:
    """Files, then rows; 0 where it is no longer one of `rows`."""
    conversation = rows.select_for_update().filter(pk=conversation_id).first()
    if conversation is None:
        return 0  # restored, or purged by another worker, since the list was made
    for attachment in conversation.attachments.all():
        attachment.file.delete(save=False)
    conversation.delete()
    log.info("conversation_purged", conversation_id=str(conversation_id))
    return 1
