"""A turn: a prompt and its answer, from the pending row to the finished text.

The protocol with the gateway. `turn_create` or `turn_regenerate` commits the prompt and a
pending answer, so that nothing a user wrote can be lost. The gateway attaches its Generation in
the transaction that creates it, and calls `message_finish` in the one that ends it. Locks are
taken in the order message, conversation by the gateway's calls, and on the conversation alone
by the others; all are `no_key`, which new child rows do not wait for. So they cannot deadlock.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from enum import Enum
from typing import Any, Final, Literal
from uuid import UUID

from celery import current_app
from django.db import transaction
from django.utils import timezone

from backend.accounts.principal import Principal
from backend.conversations.comparisons import PLACE
from backend.conversations.history import tokens_of
from backend.conversations.instructions import prompt_for
from backend.conversations.memory_proposals import memory_note, typed_mark
from backend.conversations.models import (
    Attachment,
    Conversation,
    Message,
    MessageRole,
    MessageStatus,
)
from backend.conversations.notify import notify
from backend.conversations.parts import KINDS_OF_PART, parts_clean, parts_with_names, text_parts
from backend.conversations.selectors import message_get
from backend.conversations.services import clean_model, conversation_locked
from backend.conversations.summary_requests import summary_ask
from backend.conversations.types import NOTHING_WITHHELD, ChatMessage, Turn, Withheld
from backend.conversations.withheld import withheld_note
from backend.platform.errors import Conflict, InvalidRequest, NotFound


class _Where(Enum):
    ACTIVE_LEAF = "active leaf"


TURN_CLAIM = timedelta(seconds=6)
"""How long a pending answer waits for its generation unless the process that begins it renews that
(orphaned_turns.py)."""

ACTIVE_LEAF: Final = _Where.ACTIVE_LEAF
"""The parent of a message that simply continues the shown branch."""


_BEGINNING = "beginning"
"""In `Message.sent` of an answer that goes on with another: what it begins with."""

FROM_OUTAGE = "from_outage"
"""In `Message.sent`: the answer is a stored one, given while its model could not answer."""

READ_IN_PART = "read_in_part"
"""In `Message.sent`: another model than the chosen one answered, and the chat's beginning was left
out."""
SHOWS_SUPPORT = "support"
"""In `Message.sent`: the page shows where to find help beside the answer."""

RoomFor = Callable[[str], int]
"""How many tokens of history the named model can read, with room left for its answer."""


def _ample_room(model: str) -> int:
    """For callers that ask no model: about the largest context window there is."""
    return 300_000


@transaction.atomic
def turn_create(
    *,
    principal: Principal,
    conversation_id: UUID,
    parts: Sequence[Mapping[str, Any]],
    model: str,
    parent_id: UUID | Literal[_Where.ACTIVE_LEAF] | None = ACTIVE_LEAF,
    room_for: RoomFor = _ample_room,
) -> Turn:
    """Store a prompt and the pending answer to it, and make them the active branch.

    Args:
        parts: see parts.py. Attachments become this conversation's.
        parent_id: the answer that this follows; None starts a new root, and an edit names the
            parent of the edited message.
        room_for: bounds the history; its beginning is left out where it is longer.
    Raises:
        NotFound: the conversation, the parent or an attachment.
        InvalidRequest: with `param`: `content`, `model`, or `parent_id` of a user's message.
        Conflict: the parent is still being generated.
    """
    clean = parts_clean(parts)
    model = clean_model(model)
    conversation = conversation_locked(principal, conversation_id)
    parent = _parent(conversation, parent_id)
    attachments = _claim_attachments(principal, conversation, clean.attachment_ids)
    prompt = Message.objects.create(
        conversation=conversation,
        parent=parent,
        role=MessageRole.USER,
        content=parts_with_names(clean.content, attachments),
        text=clean.text,
        memory=typed_mark(principal, conversation),
    )
    return _answer_to(prompt, conversation=conversation, model=model, room_for=room_for)


@transaction.atomic
def turn_regenerate(
    *,
    principal: Principal,
    message_id: UUID,
    model: str | None = None,
    beside: int | None = None,
    room_for: RoomFor = _ample_room,
) -> Turn:
    """A further answer to the same prompt, beside the one that `message_id` names.

    Args:
        message_id: an answer, or the prompt itself.
        model: None asks the conversation's model again.
        beside: its place beside the others, until one is chosen (comparisons.py); the first is 0.
    Raises:
        NotFound, InvalidRequest; Conflict while that answer is being generated.
    """
    message = message_get(principal=principal, message_id=message_id)
    conversation = conversation_locked(principal, message.conversation_id)
    message.refresh_from_db()
    if message.status == MessageStatus.PENDING:
        raise _still_generating()
    prompt = message.parent if message.role == MessageRole.ASSISTANT else message
    if prompt is None or prompt.role != MessageRole.USER:
        raise InvalidRequest("There is no prompt to answer again.", param="message_id")
    model = clean_model(model) if model is not None else conversation.model
    _forget_refused(prompt)
    turn = _answer_to(
        prompt,
        conversation=conversation,
        model=model,
        room_for=room_for,
        compares=beside is not None,
    )
    if beside is not None:
        turn.assistant_message.sent = {**(turn.assistant_message.sent or {}), PLACE: beside}
        turn.assistant_message.save(update_fields=["sent"])
    return turn


@transaction.atomic
def turn_continue(
    *, principal: Principal, message_id: UUID, room_for: RoomFor = _ample_room
) -> Turn:
    """Go on with an answer that was cut short: the whole of it becomes a further answer beside it,
    which begins with the text that is there.

    Returns:
        The turn; its history ends with that text, as an assistant's message to be gone on with.
    Raises:
        NotFound. InvalidRequest: it is no answer, has no text, or was not cut short; Conflict
        while it is being generated.
    """
    message = message_get(principal=principal, message_id=message_id)
    conversation = conversation_locked(principal, message.conversation_id)
    message.refresh_from_db()
    if message.status == MessageStatus.PENDING:
        raise _still_generating()
    prompt = message.parent
    stopped = message.status in {MessageStatus.CANCELLED, MessageStatus.FAILED}
    if prompt is None or not message.text or not (stopped or message.finish_reason == "length"):
        raise InvalidRequest("This answer was not cut short.", param="message_id")
    begun = ChatMessage("assistant", message.text)
    turn = _answer_to(
        prompt,
        conversation=conversation,
        model=message.model,
        room_for=lambda model: room_for(model) - tokens_of(begun),
    )
    turn.assistant_message.sent = {**(turn.assistant_message.sent or {}), _BEGINNING: message.text}
    turn.assistant_message.save(update_fields=["sent"])
    turn.history.append(begun)
    return turn


@transaction.atomic
def turn_go_on(
    *, answer: Message, outputs: Sequence[tuple[str, str]], room_for: RoomFor = _ample_room
) -> Turn | None:
    """The results of an answer's calls, and the pending answer that reads them.

    Args:
        outputs: what came of each call, by its id.
    Returns:
        None where the chat was deleted, or has gone on otherwise.
    """
    conversation = (
        Conversation.objects.select_for_update(no_key=True)
        .filter(pk=answer.conversation_id, deleted_at=None, active_message_id=answer.pk)
        .first()
    )
    if conversation is None:
        return None
    results = Message.objects.create(
        conversation=conversation,
        parent=answer,
        role=MessageRole.USER,
        content=[
            {"type": "call_output", "call_id": call_id, "output": output}
            for call_id, output in outputs
        ],
    )
    return _answer_to(results, conversation=conversation, model=answer.model, room_for=room_for)


def _forget_refused(prompt: Message) -> None:
    """Answers that were refused before they began (a rate limit, say) are no versions to turn
    back to. One that was asked on from stays where it is."""
    prompt.children.filter(
        status=MessageStatus.FAILED, text="", generation_id=None, children__isnull=True
    ).delete()


@transaction.atomic
def generation_attach(
    *,
    message_id: UUID,
    generation_id: UUID,
    model: str | None = None,
    withheld: Withheld = NOTHING_WITHHELD,
    shows_support: bool = False,
) -> None:
    """Say which Generation fills a pending message, and tell the user's tabs.

    Args:
        model: that makes the answer: another one may stand in for the one that was asked for.
        withheld: what it is not given (withheld.py).
        shows_support: see SHOWS_SUPPORT.
    Raises:
        Conflict: the message is not pending any more: its conversation was purged, or the process
            stalled for so long that the answer was given up.
    """
    message = _pending_locked(message_id)
    if message is None:
        raise Conflict("This answer was given up before it began. Ask again.", code="turn_over")
    message.generation_id = generation_id
    sent = message.sent or {}
    if model not in (None, message.model) and sent.get("used", 0) >= sent.get("tokens", 1):
        sent = {**sent, READ_IN_PART: True}
    if withheld:
        sent = {**sent, **withheld_note(withheld)}
    if shows_support:
        sent = {**sent, SHOWS_SUPPORT: True}
    message.sent = sent or None
    message.model = model or message.model
    message.save(update_fields=["generation_id", "model", "sent"])
    notify(
        "generation.started",
        user_id=message.conversation.user_id,
        conversation_id=message.conversation_id,
        generation_id=generation_id,
        message_id=message.id,
    )


@transaction.atomic
def message_finish(
    *,
    message_id: UUID,
    text: str,
    status: str,
    finish_reason: str,
    input_tokens: int,
    output_tokens: int,
    parts: list[dict[str, Any]] | None = None,
    from_outage: bool = False,
    shows_support: bool = False,
    only_unbegun: bool = False,
) -> None:
    """Store the answer and its terminal status. Called once by the end of each generation.

    Does nothing unless the message is pending. Never fails on what the text contains: half
    characters and null characters, which PostgreSQL cannot store, are replaced.

    Args:
        status: a terminal MessageStatus.
        finish_reason: OpenAI's, or "" where there is none.
        parts: what `text` says, where it is more than text (items.py).
        from_outage: it is a stored answer, given while its model could not answer.
        shows_support: it was stopped for self-harm; see SHOWS_SUPPORT.
        only_unbegun: leave one alone that has its generation.
    """
    status = MessageStatus(status)
    if status == MessageStatus.PENDING:
        raise ValueError("A message is not finished as pending.")
    message = _pending_locked(message_id)
    if message is None or (only_unbegun and message.generation_id is not None):
        return
    begun = (message.sent or {}).get(_BEGINNING, "")
    if begun:
        parts = [*text_parts(begun), *parts] if parts is not None else None
    text = begun + _storable(text)
    message.text = text
    message.content = parts if parts is not None else text_parts(text) if text else []
    message.status = status
    message.finish_reason = finish_reason
    message.input_tokens = input_tokens
    message.output_tokens = output_tokens
    if from_outage and message.sent is not None:
        message.sent = {**message.sent, FROM_OUTAGE: True}
    if shows_support:
        message.sent = {**(message.sent or {}), SHOWS_SUPPORT: True}
    message.save()
    conversation = message.conversation
    Conversation.objects.filter(pk=conversation.pk).update(updated_at=timezone.now())
    notify(
        "generation.finished",
        user_id=conversation.user_id,
        conversation_id=conversation.pk,
        generation_id=message.generation_id,
        message_id=message.id,
    )
    if status != MessageStatus.COMPLETED or conversation.is_temporary:
        return
    if message.parent is not None:
        memory_note(message.parent, is_distress=SHOWS_SUPPORT in (message.sent or {}))
    if not conversation.title:
        _ask_for_title(conversation.pk)
    summary_ask(message)


def _answer_to(
    prompt: Message,
    *,
    conversation: Conversation,
    model: str,
    room_for: RoomFor,
    compares: bool = False,
) -> Turn:
    history, sent = prompt_for(conversation, prompt, tokens=room_for(model))
    answer = Message.objects.create(
        conversation=conversation,
        sent=sent,
        parent=prompt,
        role=MessageRole.ASSISTANT,
        status=MessageStatus.PENDING,
        model=model,
        claimed_until=timezone.now() + TURN_CLAIM,
    )
    conversation.active_message = answer
    conversation.model = model
    conversation.compared_prompt_id = prompt.pk if compares else None
    conversation.updated_at = timezone.now()
    conversation.save(update_fields=["active_message", "model", "compared_prompt_id", "updated_at"])
    notify("conversation.changed", user_id=conversation.user_id, conversation_id=conversation.pk)
    return Turn(prompt, answer, history, conversation.parameters, conversation.is_temporary)


def _parent(
    conversation: Conversation, parent_id: UUID | Literal[_Where.ACTIVE_LEAF] | None
) -> Message | None:
    if parent_id is ACTIVE_LEAF:
        parent_id = conversation.active_message_id
    if parent_id is None:
        return None
    parent = Message.objects.filter(conversation=conversation, pk=parent_id).first()
    if parent is None:
        raise NotFound(f"There is no message {parent_id} here.", param="parent_id")
    if parent.role != MessageRole.ASSISTANT:
        raise InvalidRequest(
            "parent_id is a user's message; a message follows an answer. To edit, send the"
            " parent_id of the edited message.",
            param="parent_id",
        )
    if parent.status == MessageStatus.PENDING:
        raise _still_generating()
    return parent


def _claim_attachments(
    principal: Principal, conversation: Conversation, wanted: Mapping[UUID, str]
) -> dict[UUID, Attachment]:
    """Make the attachments this conversation's: they are purged with it. Returns them.

    One that belongs to another conversation, a project or an assistant is not found here, even if
    it is the user's own, so that a purge never takes a file from one that is kept.
    """
    if not wanted:
        return {}
    rows = Attachment.objects.select_for_update(no_key=True).filter(
        organization_id=principal.organization_id,
        user_id=principal.user_id,
        project=None,
        assistant=None,
        pk__in=list(wanted),
    )
    usable = {row.id: row for row in rows if row.conversation_id in (None, conversation.pk)}
    for attachment_id, kind in wanted.items():
        if attachment_id not in usable:
            raise NotFound(f"There is no attachment {attachment_id}.", param="content")
        if usable[attachment_id].kind not in KINDS_OF_PART[kind]:
            raise InvalidRequest(
                f"Attachment {attachment_id} is of kind {usable[attachment_id].kind}, not {kind}.",
                param="content",
            )
    Attachment.objects.filter(pk__in=list(wanted)).update(conversation=conversation)
    return usable


def _pending_locked(message_id: UUID) -> Message | None:
    return (
        Message.objects.select_for_update(no_key=True, of=("self",))
        .select_related("conversation")
        .filter(pk=message_id, status=MessageStatus.PENDING)
        .first()
    )


def _ask_for_title(conversation_id: UUID) -> None:
    def send() -> None:
        # By name, because tasks.py imports this module. `retry=False`: without a broker the
        # chat goes on untitled rather than waiting here.
        current_app.send_task(
            "backend.conversations.tasks.title_create", (str(conversation_id),), retry=False
        )

    transaction.on_commit(send, robust=True)


def _storable(text: str) -> str:
    return text.encode(errors="replace").decode().replace("\x00", "\N{REPLACEMENT CHARACTER}")


def _still_generating() -> Conflict:
    return Conflict(
        "This answer is still being generated; wait for it or stop it first.",
        code="generation_in_progress",
    )
