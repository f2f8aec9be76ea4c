"""Files and tools' results that a model was not given, because they read like orders to it.

The prompt's check decides that for each request (backend/generation/untrusted_content.py); here it
is noted at the answer, for the person. They may look at the text of a file; that of a result they
see at its call.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from msgspec.structs import replace

from backend.accounts.principal import Principal
from backend.conversations.instructions import sent_prompt_get
from backend.conversations.models import Attachment, Message
from backend.conversations.types import (
    WITHHELD,
    ChatMessage,
    ImagePart,
    Part,
    TextPart,
    UntrustedPart,
    Withheld,
)

_NOTED = "withheld"
"""In `Message.sent` of an answer: the files, each with its id and the name it had."""

_CALLS = "withheld_calls"
"""The calls' ids, beside them."""


@dataclass(frozen=True, slots=True)
class WithheldFile:
    attachment_id: str
    filename: str


def withheld_note(withheld: Withheld) -> dict[str, Any]:
    """For `Message.sent`; see `withheld_of` and `as_read`."""
    note: dict[str, Any] = {}
    if ids := withheld.attachment_ids:
        names = dict(Attachment.objects.filter(pk__in=ids).values_list("pk", "filename"))
        files = [{"attachment_id": str(one), "filename": names[one]} for one in ids if one in names]
        note |= {_NOTED: files} if files else {}
    if withheld.call_ids:
        note[_CALLS] = list(withheld.call_ids)
    return note


def withheld_of(answer: Message) -> list[WithheldFile]:
    """The files noted of an answer; empty for one that has read them all."""
    return [WithheldFile(**one) for one in (answer.sent or {}).get(_NOTED, ())]


def withheld_parts_get(
    *, principal: Principal, message_id: UUID
) -> list[tuple[WithheldFile, UntrustedPart | ImagePart]]:
    """What was kept from the model of an answer, made out again as its prompt is: text, or an image
    of which it is the text. A file that is gone is left out.

    Raises:
        NotFound: the message; or nothing was noted of its prompt.
    """
    sent = sent_prompt_get(principal=principal, message_id=message_id)
    files = {one.attachment_id: one for one in withheld_of(sent.answer)}
    found: dict[str, UntrustedPart | ImagePart] = {}
    for message in sent.messages:
        for part in message.parts:
            if not isinstance(part, TextPart) and part.attachment_id in files:
                found[part.attachment_id] = part
    return [(file, found[one]) for one, file in files.items() if one in found]


def as_read(messages: Iterable[ChatMessage], answer: Message) -> list[ChatMessage]:
    """The messages of the prompt of `answer`, with what stood there in place of a file or of a
    tool's result."""
    files = {one.attachment_id for one in withheld_of(answer)}
    calls = set((answer.sent or {}).get(_CALLS, ()))

    def part_read(part: Part) -> Part:
        if isinstance(part, UntrustedPart) and part.attachment_id in files:
            return replace(part, text=WITHHELD)
        return part

    def message_read(message: ChatMessage) -> ChatMessage:
        if message.tool_call_id in calls:
            return replace(message, content=WITHHELD)
        if isinstance(message.content, str):
            return message
        return replace(message, content=[part_read(part) for part in message.content])

    return [message_read(one) for one in messages]
