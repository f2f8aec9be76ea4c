"""What the model reads: the path of the tree that ends with the question."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from backend.conversations.models import Attachment, Message, MessageRole, MessageStatus
from backend.conversations.parts import parts_for_model
from backend.conversations.tree import path_to
from backend.conversations.types import ChatMessage

# About four times what the largest context window among open models holds. It bounds the work
# for a conversation of any length; the gateway, which knows the window, trims the rest.
HISTORY_CHARACTERS = 1_000_000


def history_for(question: Message) -> list[ChatMessage]:
    """The messages up to and with `question`, oldest first, user and assistant in turns.

    Left out are a question that was blocked, with its empty answer, or the classifier would
    refuse every later turn; and an empty answer that failed or was stopped, whose question is
    then joined to the next one.
    """
    path = path_to(
        conversation_id=question.conversation_id,
        leaf_id=question.id,
        max_characters=HISTORY_CHARACTERS,
    )
    if len(path) > 1 and path[0].role == MessageRole.ASSISTANT:
        path = path[1:]  # the cut fell between a question and its answer
    attachments = _attachments_of(path)
    history: list[ChatMessage] = []
    for message in _without_blocked(path):
        if message.role == MessageRole.ASSISTANT and not message.text:
            continue
        spoken = ChatMessage(message.role, parts_for_model(message.content, attachments))
        if history and history[-1].role == spoken.role:
            history[-1] = _joined(history[-1], spoken)
        else:
            history.append(spoken)
    return history


def _without_blocked(path: list[Message]) -> list[Message]:
    refused = {
        message.parent_id
        for message in path
        if message.status == MessageStatus.BLOCKED and not message.text
    }
    return [message for message in path if message.id not in refused]


def _attachments_of(path: Iterable[Message]) -> dict[UUID, Attachment]:
    wanted = {
        part["attachment_id"]
        for message in path
        for part in message.content
        if "attachment_id" in part
    }
    return Attachment.objects.in_bulk(wanted) if wanted else {}


def _joined(first: ChatMessage, second: ChatMessage) -> ChatMessage:
    if isinstance(first.content, str) and isinstance(second.content, str):
        return ChatMessage(first.role, f"{first.content}\n\n{second.content}")
    return ChatMessage(first.role, _as_parts(first.content) + _as_parts(second.content))


def _as_parts(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
