"""Background work of `conversations`; each task is safe to run twice."""

from uuid import UUID

from celery import shared_task

from backend.conversations import memory_proposals, purge, summarising, titles
from backend.platform.periodic import periodic_task


@periodic_task()
def purge_deleted() -> dict[str, int]:
    """Hourly: what is due for good, counted by kind."""
    return {
        "conversations": purge.deleted_conversations_purge(),
        "uploads": purge.unused_uploads_purge(),
    }


@periodic_task()
def purge_overdue() -> int:
    """Every minute: what its organization keeps no longer, and temporary chats that ended."""
    return purge.overdue_conversations_purge() + purge.temporary_conversations_purge()


@shared_task
def title_create(conversation_id: str) -> str | None:
    """After the first completed answer; see titles.conversation_title."""
    return titles.conversation_title(conversation_id=UUID(conversation_id))


@shared_task
def memory_propose(message_id: str) -> str | None:
    """After an answered turn with words about oneself; see memory_proposals.memory_propose."""
    return memory_proposals.memory_propose(message_id=UUID(message_id))


@shared_task
def summary_create(message_id: str, tokens: int, asked: bool = False) -> bool:
    """After an answer that leaves a chat nearly full; see summarising.conversation_summarise."""
    return summarising.conversation_summarise(
        message_id=UUID(message_id), tokens=tokens, asked=asked
    )
