"""What a conversation hands to generation: messages of typed parts.

Encodable by msgspec, because a request is kept in Redis for as long as its generation runs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

import msgspec

from backend.conversations.models import Message

WITHHELD = "Content withheld: it reads like an order to a model."
"""What a model reads where untrusted content is kept from it."""


class TextPart(msgspec.Struct, frozen=True, omit_defaults=True, tag="text"):
    """Words of a message.

    Attributes:
        is_ours: they are the product's, such as a note about a file, and nobody is judged by them.
    """

    text: str
    is_ours: bool = False


class ImagePart(msgspec.Struct, frozen=True, tag="image"):
    """An image inside the request.

    Attributes:
        url: a `data:image/…;base64,…` URL; nothing is fetched.
        attachment_id: of a chat's; "" of a program's.
    """

    url: str
    detail: Literal["auto", "low", "high"] = "auto"
    attachment_id: str = ""


class UntrustedPart(msgspec.Struct, frozen=True, tag="untrusted"):
    """Untrusted content: what a file or a tool brings along is data, and gives no orders.

    Attributes:
        source: what it is, in words of ours that the model reads.
        marked: `text` as the model reads it, between markers that its author cannot know; set
            once, when the request is admitted (backend/generation/untrusted_content.py).
        attachment_id: of the chat's file that it is from; "" of anything else.
        spans: first character and end of what `marked` leaves out, because it reads like orders.
        name: of the file, which its author chose: the first line of what is marked.
    """

    source: str
    text: str
    marked: str = ""
    attachment_id: str = ""
    spans: list[tuple[int, int]] = []
    name: str = ""

    @property
    def named_text(self) -> str:
        return f"[File: {self.name}]\n{self.text}" if self.name else self.text


class StoredPart(msgspec.Struct, frozen=True, tag="stored"):
    """A file of a chat whose content is not read yet: `files_read` (parts.py) puts an image or a
    text in its place.

    Attributes:
        tokens: about how many it takes.
    """

    attachment_id: UUID
    tokens: int

    @property
    def text(self) -> str:
        """Nobody may take an unread file for an empty one: neither a check nor a model."""
        raise RuntimeError(f"Attachment {self.attachment_id} was not read; call files_read first.")


Part = TextPart | ImagePart | UntrustedPart | StoredPart


@dataclass(frozen=True, slots=True)
class Withheld:
    """What the model of an answer is not given, because it reads like orders.

    Attributes:
        of_files: parts with places of files of the chat.
        of_calls: places of tools' results, by the calls.
    """

    of_files: Sequence[UntrustedPart] = ()
    of_calls: Mapping[str, list[tuple[int, int]]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.of_files or self.of_calls)


NOTHING_WITHHELD = Withheld()


class ToolCall(msgspec.Struct, frozen=True):
    """A call that an assistant's message holds; `arguments` as the model wrote them."""

    id: str
    name: str
    arguments: str


class ChatMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message of a prompt: text, or parts where something is attached."""

    role: str
    content: str | list[Part]
    name: str | None = None
    tool_calls: list[ToolCall] = []
    tool_call_id: str | None = None

    @property
    def parts(self) -> list[Part]:
        return [TextPart(self.content)] if isinstance(self.content, str) else self.content

    @property
    def texts(self) -> list[str]:
        """The text of each part and call. What is attached comes first."""
        texts = [part.text for part in self.parts if not isinstance(part, ImagePart)]
        return texts + [f"{call.name} {call.arguments}" for call in self.tool_calls]

    @property
    def checked_texts(self) -> list[tuple[str, bool]]:
        """What the classifiers see: each text, and whether it is untrusted content."""
        texts = [
            (part.text, isinstance(part, UntrustedPart))
            for part in self.parts
            if not isinstance(part, ImagePart) and not (isinstance(part, TextPart) and part.is_ours)
        ]
        return texts + [(f"{call.name} {call.arguments}", False) for call in self.tool_calls]

    @property
    def images(self) -> list[ImagePart]:
        return [part for part in self.parts if isinstance(part, ImagePart)]

    @property
    def text(self) -> str:
        """The text of all parts: what the estimate of tokens sees."""
        return "\n".join(self.texts)


@dataclass(frozen=True, slots=True)
class Turn:
    """A prompt, the pending answer to it, and what the model is to read.

    Attributes:
        history: the chat's instructions, and the path to `user_message`, oldest first, ending
            with it; its files are not read yet.
        parameters: the chat's sampling parameters, by their upstream names.
        is_temporary: nothing of the chat is kept.
    """

    user_message: Message
    assistant_message: Message
    history: list[ChatMessage]
    parameters: dict[str, Any]
    is_temporary: bool = False
