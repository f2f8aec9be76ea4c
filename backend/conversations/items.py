"""A conversation as a program sees it: a list of items on its active branch.

What a page has no message for stands as a part of one, so that both read the same rows: of a
user's message `{"type": "instruction", "role", "text"}` and `{"type": "call_output", "call_id",
"output"}`, of an answer `{"type": "call", "call_id", "name", "arguments"}`. A part that was deleted
stays as `{"type": "removed"}`, so that the others keep their places.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from backend.accounts.principal import Principal
from backend.conversations.models import Conversation, Message, MessageRole, MessageStatus
from backend.conversations.notify import notify
from backend.conversations.selectors import conversation_get
from backend.conversations.services import conversation_locked
from backend.conversations.tree import path_to
from backend.platform.errors import Conflict, NotFound

MAX_MESSAGES = 1_000

Part = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Spoken:
    """Parts of one role, in order."""

    role: str
    parts: list[Part]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer that is about to be generated: its message's id is chosen beforehand."""

    message_id: UUID
    model: str


def branch_read(
    *, principal: Principal, conversation_id: UUID
) -> tuple[Conversation, list[Message]]:
    """The conversation and its newest messages, oldest first. Raises NotFound."""
    conversation = conversation_get(principal=principal, conversation_id=conversation_id)
    if conversation.active_message_id is None:
        return conversation, []
    return conversation, path_to(
        conversation_id=conversation.pk,
        leaf_id=conversation.active_message_id,
        max_messages=MAX_MESSAGES,
    )


@transaction.atomic
def items_append(
    *,
    principal: Principal,
    conversation_id: UUID,
    spoken: Sequence[Spoken],
    answer: Answer | None = None,
    leaf_id: UUID | None = None,
) -> None:
    """Add to the active branch. What has the role of its end joins that message.

    Args:
        answer: also adds the pending answer to all of it.
        leaf_id: of `answer`: the end of the branch that its prompt was read from.
    Raises:
        NotFound: the conversation.
        Conflict: an answer is being generated, or the branch has grown since it was read.
    """
    conversation = conversation_locked(principal, conversation_id)
    end = conversation.active_message_id
    leaf = Message.objects.filter(pk=end).first() if end is not None else None
    if leaf is not None and leaf.status == MessageStatus.PENDING:
        raise _locked()
    if answer is not None and end != leaf_id:
        raise _locked()
    for one in spoken:
        leaf = _joined(leaf, one) or _added(conversation, leaf, one)
    if answer is not None:
        leaf = Message.objects.create(
            id=answer.message_id,
            conversation=conversation,
            parent=leaf,
            role=MessageRole.ASSISTANT,
            status=MessageStatus.PENDING,
            model=answer.model,
        )
        conversation.model = answer.model
    conversation.active_message = leaf
    conversation.updated_at = timezone.now()
    conversation.save(update_fields=["active_message", "model", "updated_at"])
    notify("conversation.changed", user_id=conversation.user_id, conversation_id=conversation.pk)


@transaction.atomic
def item_remove(
    *, principal: Principal, conversation_id: UUID, message_id: UUID, place: int
) -> Conversation:
    """Take one part of a message away. Raises NotFound."""
    conversation = conversation_locked(principal, conversation_id)
    message = Message.objects.filter(conversation=conversation, pk=message_id).first()
    if message is None or not 0 <= place < len(message.content):
        raise NotFound("There is no such item in this conversation.")
    message.content[place] = {"type": "removed"}
    message.text = text_of_parts(message.content)
    message.save(update_fields=["content", "text"])
    conversation.summaries.all().delete()  # they may say what was taken away
    return conversation


@transaction.atomic
def metadata_set(
    *, principal: Principal, conversation_id: UUID, metadata: dict[str, str]
) -> Conversation:
    """Replace what a program has noted with the conversation. Raises NotFound."""
    conversation = conversation_locked(principal, conversation_id)
    conversation.metadata = metadata
    conversation.save(update_fields=["metadata"])
    return conversation


def text_of_parts(parts: Sequence[Part]) -> str:
    """What the page shows and search finds of a message."""
    texts = [
        f"{part['name']} {part['arguments']}"
        if part["type"] == "call"
        else part.get("text") or part.get("output") or ""
        for part in parts
        if part["type"] != "reasoning"
    ]
    return "\n\n".join(text for text in texts if text)


def _joined(leaf: Message | None, spoken: Spoken) -> Message | None:
    if leaf is None or leaf.role != spoken.role:
        return None
    leaf.content = [*leaf.content, *spoken.parts]
    leaf.text = text_of_parts(leaf.content)
    leaf.save(update_fields=["content", "text"])
    return leaf


def _added(conversation: Conversation, leaf: Message | None, spoken: Spoken) -> Message:
    return Message.objects.create(
        conversation=conversation,
        parent=leaf,
        role=spoken.role,
        content=spoken.parts,
        text=text_of_parts(spoken.parts),
        model=conversation.model if spoken.role == MessageRole.ASSISTANT else "",
    )


def _locked() -> Conflict:
    return Conflict(
        "Another response is being added to this conversation. Try again when it has ended.",
        code="conversation_locked",
        retry_after=1,
    )
