"""Conversations of ours as OpenAI's: their items, and a response inside one.

A conversation's id is `conv_` and ours. An item's id names its message and its place in it; those
of a generated answer are the ones that its response has.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from backend.accounts.principal import Principal
from backend.api.generations import Stores
from backend.api.responses.items import input_items, messages_of
from backend.api.schemas.responses import (
    FunctionCallItem,
    FunctionOutputItem,
    InputImage,
    Item,
    MessageItem,
    ReasoningItem,
    ResponseCreate,
)
from backend.conversations import items as rows
from backend.conversations.models import Conversation, Message, MessageRole, MessageStatus
from backend.platform.errors import InvalidRequest, NotFound

PREFIX = "conv_"


@dataclass(frozen=True, slots=True)
class Joined:
    """A response's place in a conversation.

    Attributes:
        history: the chat's messages before it.
    """

    conversation_id: UUID
    message_id: UUID
    history: list[dict[str, Any]]
    stores: Stores


def conversation_id_of(text: str) -> UUID:
    """Raises NotFound: it is no id of a conversation."""
    digits = text.removeprefix(PREFIX)
    try:
        if digits != text and len(digits) == 32:
            return UUID(hex=digits)
    except ValueError:
        pass
    raise NotFound(f"Conversation with id '{text[:64]}' not found.")


def conversation_object(conversation: Conversation) -> dict[str, Any]:
    return {
        "id": f"{PREFIX}{conversation.pk.hex}",
        "object": "conversation",
        "created_at": int(conversation.created_at.timestamp()),
        "metadata": conversation.metadata,
    }


def join(*, principal: Principal, body: ResponseCreate, model: str) -> Joined:
    """Where the response to `body` goes. Nothing is written before `stores` is called.

    Raises:
        NotFound: the conversation.
        InvalidRequest: the input cannot stand in one.
    """
    assert body.conversation_id is not None
    conversation_id = conversation_id_of(body.conversation_id)
    conversation, branch = rows.branch_read(principal=principal, conversation_id=conversation_id)
    asked = spoken_of(input_items(body))
    if asked[-1].role != MessageRole.USER:
        raise InvalidRequest(
            "In a conversation the last input item is a message of the user or the output of a"
            " call.",
            param="input",
        )
    answer = rows.Answer(uuid4(), model)
    leaf_id = conversation.active_message_id
    history = messages_of([item for _, _, item in _entries(branch)])
    write = partial(
        rows.items_append,
        principal=principal,
        conversation_id=conversation_id,
        spoken=asked,
        answer=answer,
        leaf_id=leaf_id,
    )
    return Joined(conversation_id, answer.message_id, history, lambda generation_id: write())


def spoken_of(items: list[Item]) -> list[rows.Spoken]:
    """Items as what user and assistant said in turns.

    Raises:
        InvalidRequest: an image, for which a conversation of a program has no place.
    """
    spoken: list[rows.Spoken] = []
    for item in items:
        role, parts = _parts_of(item)
        if spoken and spoken[-1].role == role:
            spoken[-1].parts.extend(parts)
        else:
            spoken.append(rows.Spoken(role, parts))
    return spoken


def items_of(branch: list[Message]) -> list[dict[str, Any]]:
    """The items of a branch as OpenAI lists them, oldest first."""
    return [
        {**_shown(item), "id": item_id}
        for item_id, item in (
            (_item_id(message, place), item) for message, place, item in _entries(branch)
        )
    ]


def place_of(branch: list[Message], item_id: str) -> tuple[UUID, int]:
    """The message of an item, and its place there. Raises NotFound."""
    for message, place, _ in _entries(branch):
        if _item_id(message, place) == item_id:
            return message.pk, place
    raise NotFound(f"Item with id '{item_id[:100]}' not found.")


def _entries(branch: list[Message]) -> list[tuple[Message, int, Item]]:
    refused = {
        message.parent_id
        for message in branch
        if message.status == MessageStatus.BLOCKED and not message.text
    }
    return [
        (message, place, item)
        for message in branch
        if message.pk not in refused
        for place, part in enumerate(message.content)
        if (item := _item_of(message, part)) is not None
    ]


def _parts_of(item: Item) -> tuple[str, list[rows.Part]]:
    if isinstance(item, FunctionCallItem):
        call = {"call_id": item.call_id, "name": item.name, "arguments": item.arguments}
        return MessageRole.ASSISTANT, [{"type": "call", **call}]
    if isinstance(item, FunctionOutputItem):
        text = item.output if isinstance(item.output, str) else _text(item.output)
        return MessageRole.USER, [{"type": "call_output", "call_id": item.call_id, "output": text}]
    if isinstance(item, ReasoningItem):
        thought = "\n\n".join(part.text for part in item.content or ())
        return MessageRole.ASSISTANT, [{"type": "reasoning", "text": thought, "seconds": 0}]
    if isinstance(item.content, list) and any(isinstance(p, InputImage) for p in item.content):
        raise InvalidRequest(
            "Images are not supported in a conversation. Send them without one.",
            param="input",
            code="unsupported_parameter",
        )
    text = item.content if isinstance(item.content, str) else _text(item.content)
    if item.role in {"system", "developer"}:
        return MessageRole.USER, [{"type": "instruction", "role": item.role, "text": text}]
    return MessageRole(item.role), [{"type": "text", "text": text}]


def _text(parts: list[Any]) -> str:
    return "".join(part.text for part in parts)


def _item_of(message: Message, part: rows.Part) -> Item | None:
    kind = part["type"]
    if kind == "call":
        return FunctionCallItem(
            type="function_call",
            call_id=part["call_id"],
            name=part["name"],
            arguments=part["arguments"],
        )
    if kind == "call_output":
        return FunctionOutputItem(
            type="function_call_output", call_id=part["call_id"], output=part["output"]
        )
    if kind == "instruction":
        return MessageItem(role=part["role"], content=part["text"])
    if kind == "text":
        is_answer = message.role == MessageRole.ASSISTANT
        return MessageItem(role="assistant" if is_answer else "user", content=part["text"])
    if kind in {"image", "file"}:
        name = str(part.get("filename") or "a file")
        return MessageItem(role="user", content=f"[Attached: {name}]")
    return None


def _item_id(message: Message, place: int) -> str:
    kind = {"call": "fc", "call_output": "fco"}.get(message.content[place]["type"], "msg")
    if message.generation_id is None or message.role != MessageRole.ASSISTANT:
        return f"{kind}_{message.pk.hex}_{place}"
    if kind == "msg":
        return f"msg_{message.generation_id.hex}"
    before = sum(part["type"] == "call" for part in message.content[:place])
    return f"fc_{message.generation_id.hex}_{before}"


def _shown(item: Item) -> dict[str, Any]:
    shown = item.model_dump(exclude_none=True)
    if isinstance(item, MessageItem):
        kind = "output_text" if item.role == "assistant" else "input_text"
        part: dict[str, Any] = {"type": kind, "text": item.content}
        if item.role == "assistant":
            part |= {"annotations": [], "logprobs": []}
        shown["content"] = [part]
    return {**shown, "status": "completed"}
