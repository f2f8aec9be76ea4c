"""Places of files and of tools' results that a model was not given, because they read like orders.

The prompt's check decides that for each request (backend/generation/untrusted_content.py); here it
is noted at the answer, for the person: which characters, of which text. They may look at those of a
file; a result they see at its call.
"""

from collections.abc import Iterable, Sequence
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
    UntrustedPart,
    Withheld,
)
from safety.judge.windows import Span, without
from safety.types import text_digest

_NOTED = "withheld"
"""In `Message.sent` of an answer: the texts of files, each with the file's id and the name it had,
and a digest of the text where places of it were withheld."""

_CALLS = "withheld_calls"
"""Beside them: the places by the calls' ids; in old rows the ids alone, of whole results."""

_Spans = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class WithheldFile:
    """A text of a file of which something was withheld.

    Attributes:
        digest: which text; "" of all that the prompt has of the file.
        spans: which characters; none where it is all of them.
    """

    attachment_id: str
    filename: str
    digest: str = ""
    spans: _Spans = ()

    @property
    def is_in_part(self) -> bool:
        return bool(self.spans)


def text_read(text: str, spans: _Spans) -> str:
    """`text` as a model reads it without the characters at `spans`."""
    places = [Span(start, end) for start, end in spans]
    if places == [Span(0, len(text))]:
        return WITHHELD
    return without(text, places, mark=f"\n{WITHHELD}\n")


def text_withheld(text: str, spans: _Spans) -> str:
    """What `text_read` leaves out."""
    return "\n\n".join(text[start:end].strip() for start, end in spans) if spans else text


def withheld_note(withheld: Withheld) -> dict[str, Any]:
    """For `Message.sent`; see `withheld_of` and `as_read`."""
    note: dict[str, Any] = {}
    if parts := withheld.of_files:
        ids = {UUID(part.attachment_id) for part in parts}
        names = {
            str(pk): name
            for pk, name in Attachment.objects.filter(pk__in=ids).values_list("pk", "filename")
        }
        files = [
            _noted(part, names[part.attachment_id]) for part in parts if part.attachment_id in names
        ]
        note |= {_NOTED: files} if files else {}
    if withheld.of_calls:
        note[_CALLS] = dict(withheld.of_calls)
    return note


def _noted(part: UntrustedPart, filename: str) -> dict[str, Any]:
    noted = {"attachment_id": part.attachment_id, "filename": filename}
    if part.spans == [(0, len(part.text))]:
        return noted
    return {**noted, "digest": text_digest(part.text), "spans": part.spans}


def withheld_of(answer: Message) -> list[WithheldFile]:
    """The files noted of an answer, each once, and as whole where one of its texts is; empty for
    an answer that has read them all."""
    found: dict[str, WithheldFile] = {}
    for one in _texts_of(answer):
        if one.attachment_id not in found or not one.is_in_part:
            found[one.attachment_id] = one
    return list(found.values())


def _texts_of(answer: Message) -> list[WithheldFile]:
    return [
        WithheldFile(
            one["attachment_id"],
            one["filename"],
            one.get("digest", ""),
            tuple((start, end) for start, end in one.get("spans", ())),
        )
        for one in (answer.sent or {}).get(_NOTED, ())
    ]


def withheld_parts_get(
    *, principal: Principal, message_id: UUID
) -> list[tuple[WithheldFile, UntrustedPart | ImagePart]]:
    """What was kept from the model of an answer, made out again as its prompt is: text, or an image
    of which it is the text. A file that is gone is left out.

    Raises:
        NotFound: the message; or nothing was noted of its prompt.
    """
    sent = sent_prompt_get(principal=principal, message_id=message_id)
    noted = _texts_of(sent.answer)
    found: dict[WithheldFile, UntrustedPart | ImagePart] = {}
    for message in sent.messages:
        for part in message.parts:
            if not isinstance(part, UntrustedPart | ImagePart):
                continue
            if (file := _noted_of(part, noted)) is not None:
                found[file] = part
    return list(found.items())


def _noted_of(
    part: UntrustedPart | ImagePart, noted: Iterable[WithheldFile]
) -> WithheldFile | None:
    """What was noted of a part of a prompt. The text of an image is not in the prompt that is made
    out again."""
    digest = text_digest(part.text) if isinstance(part, UntrustedPart) else ""
    for one in noted:
        is_this_text = digest == one.digest or not (digest and one.digest)
        if one.attachment_id == part.attachment_id and is_this_text:
            return one
    return None


def as_read(messages: Iterable[ChatMessage], answer: Message) -> list[ChatMessage]:
    """The messages of the prompt of `answer`, with what stood there in place of a file or of a
    tool's result."""
    noted = _texts_of(answer)
    calls = (answer.sent or {}).get(_CALLS, ())
    spans_of = calls if isinstance(calls, dict) else {}

    def part_read(part: Part) -> Part:
        if not isinstance(part, UntrustedPart) or (file := _noted_of(part, noted)) is None:
            return part
        return replace(part, text=_read(part.text, file.spans))

    def message_read(message: ChatMessage) -> ChatMessage:
        if message.tool_call_id in calls:
            text = _read(message.text, spans_of.get(message.tool_call_id, ()))
            return replace(message, content=text)
        if isinstance(message.content, str):
            return message
        return replace(message, content=[part_read(part) for part in message.content])

    return [message_read(one) for one in messages]


def _read(text: str, spans: _Spans) -> str:
    return text_read(text, spans) if spans else WITHHELD
