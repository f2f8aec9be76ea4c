"""Automatic titles: after the first completed answer the model names the conversation.

The call goes through our own `/v1/chat/completions` with a token in the user's name, so it is
limited, checked by both classifiers, queued by plan and metered like any other, for the project of
the conversation (decision 0023). Whatever goes wrong, the first words of the prompt are the title;
and a title that the user gave is never touched.
"""

import itertools
import re
from uuid import UUID

import structlog
from django.db import transaction

from backend.conversations.models import Conversation, Message, MessageRole, MessageStatus
from backend.conversations.notify import notify
from backend.conversations.own_calls import FAILURES, answer_to
from backend.conversations.tree import path_to

TITLE_CHARACTERS = 60
_EXCERPT = 600
_WORDS = 8
_QUOTES = " \"'`*_#\u201c\u201d\u2018\u2019\u00ab\u00bb"

TITLE_INSTRUCTIONS = (
    "You write titles for conversations. Answer with a title of two to six words that says what"
    " the conversation is about, in its language. No quotes, no full stop, nothing else."
)

log = structlog.get_logger(__name__)


def conversation_title(*, conversation_id: UUID) -> str | None:
    """Give an untitled conversation its title. Safe to run twice.

    Returns:
        The title; None where there is nothing to do: named meanwhile, deleted, no answer.
    """
    conversation = Conversation.objects.filter(
        pk=conversation_id, title="", title_is_manual=False, deleted_at=None
    ).first()
    if conversation is None:
        return None
    prompt, answer = _first_exchange(conversation)
    if prompt is None or answer is None:
        return None
    title = _from_model(conversation, prompt.text, answer.text) or first_words(prompt.text)
    return title if _store(conversation, title) else None


def first_words(text: str) -> str:
    """The start of `text`, cut between words: the title when the model has none to offer."""
    line = " ".join(re.sub(r"[#*`_>\[\]]", " ", text).split()) or "New chat"
    if len(line) <= TITLE_CHARACTERS:
        return line
    cut = line[:TITLE_CHARACTERS].rsplit(" ", 1)[0]
    return f"{cut[: TITLE_CHARACTERS - 1]}…"


def clean_title(text: str) -> str | None:
    """What a model answered, as a title; None where it rambles or says nothing."""
    line = next((line for line in text.splitlines() if line.strip()), "")
    line = re.sub(r"^\W*title\W*:\s*", "", line, flags=re.IGNORECASE)
    line = " ".join(line.split()).strip(_QUOTES).rstrip(".:,; ")
    if not any(c.isalnum() for c in line):
        return None
    if len(line) > TITLE_CHARACTERS or len(line.split()) > _WORDS:
        return None
    return line[0].upper() + line[1:]


def _first_exchange(conversation: Conversation) -> tuple[Message | None, Message | None]:
    """The first prompt of the shown branch that got an answer, and that answer."""
    if conversation.active_message_id is None:
        return None, None
    path = path_to(conversation_id=conversation.pk, leaf_id=conversation.active_message_id)
    for prompt, answer in itertools.pairwise(path):
        if answer.role == MessageRole.ASSISTANT and answer.status == MessageStatus.COMPLETED:
            return prompt, answer
    return None, None


def _from_model(conversation: Conversation, prompt: str, answer: str) -> str | None:
    exchange = f"User: {prompt[:_EXCERPT]}\n\nAssistant: {answer[:_EXCERPT]}"
    messages = [
        {"role": "system", "content": TITLE_INSTRUCTIONS},
        {"role": "user", "content": f"{exchange}\n\nTitle:"},
    ]
    try:
        answered = answer_to(
            conversation, messages, purpose="title", about=conversation.pk, max_tokens=20
        )
        return clean_title(answered)
    except FAILURES as error:
        log.info("title_without_model", conversation_id=str(conversation.pk), error=str(error))
        return None


@transaction.atomic
def _store(conversation: Conversation, title: str) -> bool:
    """Whether it was stored: not when the user was faster."""
    stored = Conversation.objects.filter(
        pk=conversation.pk, title="", title_is_manual=False, deleted_at=None
    ).update(title=title)
    if stored:
        notify(
            "conversation.changed", user_id=conversation.user_id, conversation_id=conversation.pk
        )
    return bool(stored)
