"""When a summary of a chat's beginning is made (summarising.py), and taken back (summaries.py)."""

from collections.abc import Callable
from uuid import UUID

from celery import current_app
from django.db import transaction

from backend.accounts.principal import Principal
from backend.conversations.history import history_of, kept_from
from backend.conversations.models import Conversation, Message
from backend.conversations.notify import notify
from backend.conversations.services import conversation_locked
from backend.conversations.summaries import summarises_in, summary_for
from backend.platform.errors import Conflict

FULL_FROM = 0.8
"""Of the room for a chat's messages: what is fuller after an answer is summarised."""
KEPT = 0.5
"""Of that room: about so much stays as it was said."""
_BYTES_PER_TOKEN = 3


def summary_ask(answer: Message) -> None:
    """After an answer, in the transaction that ends it: ask the worker where the chat is nearly
    full. What it was sent says how full, so that nothing is read again."""
    sent = answer.sent or {}
    if "used" not in sent:
        return
    used = sent["used"] + len(answer.text.encode()) // _BYTES_PER_TOKEN
    if used >= FULL_FROM * sent["tokens"] and summarises_in(answer.conversation):
        _ask_worker(answer.pk, sent["tokens"], asked=False)


@transaction.atomic
def summary_request(
    *, principal: Principal, conversation_id: UUID, room_of: Callable[[Conversation], int]
) -> None:
    """Have the beginning of the active branch summarised now, however full it is.

    Raises:
        NotFound: the conversation, or its model.
        Conflict: it is temporary, or too short for a beginning that could be summarised.
    """
    conversation = conversation_locked(principal, conversation_id)
    leaf = conversation.active_message
    tokens = room_of(conversation)
    if leaf is None or conversation.is_temporary or first_kept(leaf, tokens=tokens) is None:
        raise Conflict("There is nothing to summarise in this chat.", code="nothing_to_summarise")
    conversation.summarises = True
    conversation.save(update_fields=["summarises"])
    _ask_worker(leaf.pk, tokens, asked=True)


@transaction.atomic
def summary_undo(*, principal: Principal, conversation_id: UUID) -> None:
    """Delete a chat's summaries, on all branches; no other is made until it is asked for.

    Raises:
        NotFound: the conversation.
    """
    conversation = conversation_locked(principal, conversation_id)
    conversation.summaries.all().delete()
    conversation.summarises = False
    conversation.save(update_fields=["summarises"])
    notify("conversation.changed", user_id=conversation.user_id, conversation_id=conversation.pk)


def first_kept(leaf: Message, *, tokens: int) -> Message | None:
    """The first message that a summary made now would leave as it is; None where there is none
    before it to be summarised."""
    summary = summary_for(leaf)
    entries = history_of(leaf, tokens=tokens, summary=summary).entries
    first = kept_from([one.message for one in entries], tokens=int(KEPT * tokens))
    return entries[first].origin if first else None


def _ask_worker(message_id: UUID, tokens: int, *, asked: bool) -> None:
    def send() -> None:
        # By name, because tasks.py imports this module. Without a broker none is made.
        current_app.send_task(
            "backend.conversations.tasks.summary_create",
            (str(message_id), tokens, asked),
            retry=False,
        )

    transaction.on_commit(send, robust=True)
