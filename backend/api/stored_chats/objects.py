"""A stored chat completion as OpenAI has it: the completion, its parameters and its messages."""

from typing import Any
from uuid import UUID

from backend.api.schemas.openai_chat import ChatCompletionRequest
from backend.platform.errors import NotFound

PREFIX = "chatcmpl-"
_SHOWN = (
    "frequency_penalty",
    "parallel_tool_calls",
    "presence_penalty",
    "seed",
    "temperature",
    "top_p",
)


def generation_id_of(text: str) -> UUID:
    """Raises NotFound: it is no id of a chat completion."""
    digits = text.removeprefix(PREFIX)
    if digits == text or len(digits) != 32 or not digits.isalnum() or not digits.isascii():
        raise not_found(text)
    try:
        return UUID(hex=digits)
    except ValueError:
        raise not_found(text) from None


def not_found(text: str) -> NotFound:
    return NotFound(f"Chat completion with id '{text[:64]}' not found.")


def parameters(body: ChatCompletionRequest) -> dict[str, Any]:
    """What a stored completion says of its request."""
    given = body.model_dump(
        by_alias=True, exclude_none=True, include={*_SHOWN, "tools", "tool_choice"}
    )
    shown: dict[str, Any] = {name: given.get(name) for name in _SHOWN}
    return {
        **shown,
        "input_user": body.user,
        "response_format": body.response_format.for_upstream() if body.response_format else None,
        "system_fingerprint": None,
        "tool_choice": given.get("tool_choice"),
        "tools": given.get("tools"),
    }


def messages(body: ChatCompletionRequest) -> list[dict[str, Any]]:
    return [message.model_dump(by_alias=True, exclude_none=True) for message in body.messages]


def message_object(completion_id: str, number: int, message: dict[str, Any]) -> dict[str, Any]:
    """One of its messages. Parts that are no text stand beside a text, as OpenAI has it."""
    content = message.get("content")
    parts = content if isinstance(content, list) else None
    return {
        **message,
        "id": f"{completion_id}-{number}",
        "content": None if parts is not None else content,
        "content_parts": parts,
    }
