"""The values that conversations hand to the gateway."""

from dataclasses import dataclass
from typing import Any

from backend.conversations.models import Message


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One item of OpenAI's `messages`.

    Attributes:
        content: the text, or OpenAI's content parts where something is attached (parts.py).
    """

    role: str
    content: str | list[dict[str, Any]]

    def as_dict(self) -> dict[str, Any]:
        return {"role": self.role, "content": self.content}


@dataclass(frozen=True, slots=True)
class Turn:
    """A question, the pending answer to it, and what the model is to read.

    Attributes:
        history: the path to `user_message`, oldest first, ending with it.
    """

    user_message: Message
    assistant_message: Message
    history: list[ChatMessage]
