"""How full a chat is for its model, by the rule that chooses what an answer reads (history.py)."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from django.utils.text import Truncator

from backend.accounts.principal import Principal
from backend.conversations.history import history_read, tokens_of, tokens_of_parts
from backend.conversations.instructions import instructions_for
from backend.conversations.models import Conversation, ConversationSummary
from backend.conversations.passages import reading_for
from backend.conversations.selectors import conversation_get
from backend.conversations.shared_files import files_read_in, shared_parts
from backend.conversations.summaries import summarises_in, summary_for
from backend.conversations.types import ChatMessage

_MAX_EXCERPT = 80


@dataclass(frozen=True, slots=True)
class ContextUse:
    """Tokens are counted as when a prompt is made: about, and rather too many than too few.

    Attributes:
        used: by instructions, files and messages that the next answer reads.
        limit: what the model's window leaves beside an answer.
        begins_with: the first words of the first message that is read, "" of one without words;
            None where all are read, or what is before the first one has a summary.
        summary: that is read in place of the messages before.
        summarises: whether the beginning is summarised by itself when the chat is full.
    """

    used: int
    limit: int
    begins_with: str | None
    summary: ConversationSummary | None
    summarises: bool


def context_get(
    *, principal: Principal, conversation_id: UUID, room_of: Callable[[Conversation], int]
) -> ContextUse:
    """Of the active branch. The work follows the window, not the length of the chat.

    Raises:
        NotFound: the conversation, or its model.
    """
    conversation = conversation_get(principal=principal, conversation_id=conversation_id)
    limit = room_of(conversation)
    instructions = instructions_for(conversation)
    used = tokens_of(ChatMessage("system", instructions)) if instructions else 0
    summarises = summarises_in(conversation)
    leaf = conversation.active_message
    if leaf is None:
        return ContextUse(used, limit, None, None, summarises)
    left = max(0, limit - used)
    shared = files_read_in(conversation)
    reading = reading_for(leaf, tokens=left, shared=[one.pk for one in shared])
    files = tokens_of_parts(shared_parts(shared, reading.searched))
    left -= reading.room + files
    summary = summary_for(leaf)
    history = history_read(leaf, tokens=left, searched=reading.searched, summary=summary)
    used += reading.room + files + history.tokens
    begins_with = None
    if history.entries and not history.is_whole:
        words = " ".join(history.entries[0].origin.text.split())
        begins_with = Truncator(words).chars(_MAX_EXCERPT)
    return ContextUse(used, limit, begins_with, summary, summarises)
