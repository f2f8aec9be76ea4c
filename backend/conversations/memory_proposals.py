"""What a finished turn gives memory: kept at once where its person asked for that, else a proposal.

Read is nothing but what the person typed in a turn of the page: no file, no tool's result, no
answer, no text of a program or an import. The mark on the prompt (`Message.memory`) says that a
turn is such a one, and goes when it has been looked at, so that each is looked at once.

The call goes through our own `/v1/chat/completions` as that of a title does (titles.py): limited,
checked, metered. What a model makes of the words is shown to the person and kept by their click.
"""

import json
from typing import Any
from uuid import UUID

import structlog
from celery import current_app
from django.db import transaction

from backend.accounts.principal import Principal
from backend.conversations.memories import memory_of_message, memory_works_in, noted_set
from backend.conversations.memory_words import (
    clean_memory,
    is_grounded,
    remembered_on_request,
    sentences_about_oneself,
)
from backend.conversations.models import Conversation, Message, MessageRole
from backend.conversations.notify import notify
from backend.conversations.own_calls import FAILURES, answer_to
from backend.platform.errors import Conflict

_TYPED = {"state": "typed"}
_QUEUED = {"state": "queued"}

INSTRUCTIONS = (
    "You keep a short list of lasting facts about a user: their name, place, work, family, tastes,"
    " goals. The next message is something that the user wrote. Answer in JSON. If it states such"
    ' a fact, "fact" is that fact in one short sentence, in the language of the message, using its'
    ' words. If it does not, "fact" is empty.'
)
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"fact": {"type": "string", "maxLength": 160}},
    "required": ["fact"],
    "additionalProperties": False,
}

log = structlog.get_logger(__name__)


def typed_mark(principal: Principal, conversation: Conversation) -> dict[str, str] | None:
    """Of a new prompt: whether its text parts are a person's own typed words."""
    return None if principal.is_api_key or conversation.is_temporary else dict(_TYPED)


def memory_note(prompt: Message, *, is_distress: bool) -> None:
    """Look at the prompt of a turn that has been answered; in the caller's transaction.

    A request is kept. Of words about oneself the worker is asked, on commit; never of a person in
    distress, whose words are no fact to keep.
    """
    if prompt.role != MessageRole.USER or prompt.memory != _TYPED:
        return
    if is_distress or not memory_works_in(prompt.conversation):
        noted_set(prompt)
        return
    asked = remembered_on_request(prompt.text)
    if asked is not None:
        _keep(prompt, asked)
    elif sentences_about_oneself(prompt.text) and not _is_unwanted(prompt.conversation):
        noted_set(prompt, **_QUEUED)
        _ask_worker(prompt.pk)
    else:
        noted_set(prompt)


def memory_propose(*, message_id: UUID) -> str | None:
    """What the model makes of a prompt's words, shown under it. Safe to run twice.

    Returns:
        The proposal; None where there is none.
    """
    prompt = (
        Message.objects.select_related("conversation__project")
        .filter(pk=message_id, memory=_QUEUED, conversation__deleted_at=None)
        .first()
    )
    if prompt is None:
        return None
    said = sentences_about_oneself(prompt.text)
    fact = _from_model(prompt, said) if memory_works_in(prompt.conversation) else None
    return _propose(prompt.pk, fact)


def _keep(prompt: Message, text: str) -> None:
    try:
        memory = memory_of_message(prompt, text)
    except Conflict:  # full: the person can still save it after they have forgotten others
        noted_set(prompt, state="proposed", text=text, memory_id=None)
        return
    noted_set(prompt, state="saved", text=memory.text, memory_id=str(memory.pk))


def _is_unwanted(conversation: Conversation) -> bool:
    """Whether a proposal in this chat waits for its person, or was dismissed."""
    return Message.objects.filter(
        conversation=conversation, memory__state__in=["queued", "proposed", "dismissed"]
    ).exists()


def _ask_worker(message_id: UUID) -> None:
    def send() -> None:
        # By name, because tasks.py imports this module. Without a broker nothing is proposed.
        current_app.send_task(
            "backend.conversations.tasks.memory_propose", (str(message_id),), retry=False
        )

    transaction.on_commit(send, robust=True)


def _from_model(prompt: Message, said: str) -> str | None:
    messages = [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": said}]
    try:
        answered = answer_to(
            prompt.conversation,
            messages,
            purpose="memory",
            about=prompt.pk,
            response_format={
                "type": "json_schema",
                "json_schema": {"name": "memory", "strict": True, "schema": _SCHEMA},
            },
            max_tokens=80,
        )
        fact = clean_memory(json.loads(answered or "{}")["fact"])
    except FAILURES as error:
        log.info("memory_without_model", message_id=str(prompt.pk), error=str(error))
        return None
    return fact if fact is not None and is_grounded(fact, said) else None


@transaction.atomic
def _propose(message_id: UUID, fact: str | None) -> str | None:
    """None where the prompt is gone, or was looked at meanwhile."""
    prompt = (
        Message.objects.select_for_update(no_key=True, of=("self",))
        .select_related("conversation")
        .filter(pk=message_id, memory=_QUEUED)
        .first()
    )
    if prompt is None:
        return None
    if fact is None:
        noted_set(prompt)
        return None
    noted_set(prompt, state="proposed", text=fact, memory_id=None)
    chat = prompt.conversation
    notify("conversation.changed", user_id=chat.user_id, conversation_id=chat.pk)
    return fact
