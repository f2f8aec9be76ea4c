"""The parts of a message: checked when they come in, and shaped for the model when they go out.

A prompt is made in a transaction, and a storage may take seconds to answer. So its files stand in
it by their ids, and are read after the commit (`files_read`).

In: `{"type": "text", "text"}`, `{"type": "image", "attachment_id"}`, `{"type": "file",
"attachment_id"}`; stored with the attachment's `filename` beside its id. Out: the typed parts of
types.py, a text file or document as untrusted content.
"""

import base64
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog
from msgspec.structs import replace

from backend.conversations.models import Attachment, AttachmentKind, Passage
from backend.conversations.types import (
    ChatMessage,
    ImagePart,
    Part,
    StoredPart,
    TextPart,
    UntrustedPart,
)
from backend.platform.errors import InvalidRequest

PARTS_LIMIT = 32
TEXT_LIMIT = 1_000_000
BYTES_PER_TOKEN = 3
"""The text is not tokenized yet. English has about four bytes a token, code and other scripts about
three: to count too much only forgets a little earlier."""
TOKENS_PER_IMAGE = 1000
_GONE = "[An attached file is no longer available.]"

log = structlog.get_logger(__name__)

KINDS_OF_PART: dict[str, tuple[AttachmentKind, ...]] = {
    "image": (AttachmentKind.IMAGE,),
    "file": (AttachmentKind.TEXT, AttachmentKind.DOCUMENT),
}


@dataclass(frozen=True, slots=True)
class CleanParts:
    """Attributes:
    content: the parts, with nothing in them that was not asked for.
    text: the text parts, for search.
    attachment_ids: what the message refers to, with the type of its part.
    """

    content: list[dict[str, Any]]
    text: str
    attachment_ids: dict[UUID, str]


def text_parts(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}]


def parts_clean(parts: Sequence[Mapping[str, Any]]) -> CleanParts:
    """Raises InvalidRequest (`content`) for unknown parts, nothing to say, or too much."""
    if len(parts) > PARTS_LIMIT:
        raise _invalid(f"A message has at most {PARTS_LIMIT} parts; this one has {len(parts)}.")
    content: list[dict[str, Any]] = []
    texts: list[str] = []
    attachment_ids: dict[UUID, str] = {}
    for part in parts:
        kind = part.get("type")
        if kind == "text":
            text = part.get("text")
            if not isinstance(text, str):
                raise _invalid('A text part is {"type": "text", "text": "…"}.')
            _require_storable(text)
            content.append({"type": "text", "text": text})
            texts.append(text)
        elif isinstance(kind, str) and kind in KINDS_OF_PART:
            attachment_id = _attachment_id(part)
            content.append({"type": kind, "attachment_id": str(attachment_id)})
            attachment_ids[attachment_id] = kind
        else:
            raise _invalid(f"Unknown part {str(kind)[:40]!r}; there are text, image and file.")
    text = "\n\n".join(texts)
    if not text.strip() and not attachment_ids:
        raise _invalid("The message is empty.")
    if len(text) > TEXT_LIMIT:
        raise _invalid(f"The message has {len(text):,} characters; {TEXT_LIMIT:,} are allowed.")
    return CleanParts(content, text, attachment_ids)


def parts_with_names(
    content: Sequence[Mapping[str, Any]], attachments: Mapping[UUID, Attachment]
) -> list[dict[str, Any]]:
    """The parts as they are stored: those of attachments carry the name that the page shows."""
    return [
        {**part, "filename": attachments[UUID(part["attachment_id"])].filename}
        if "attachment_id" in part
        else dict(part)
        for part in content
    ]


def parts_for_model(
    parts: Sequence[Mapping[str, Any]],
    attachments: Mapping[UUID, Attachment],
    searched: Collection[UUID] = (),
) -> str | list[Part]:
    """The content of a stored message, text files first: a string where nothing is attached.

    Args:
        searched: attachments of which passages are read elsewhere (passages.py).
    """
    notes: list[str] = []
    texts: list[str] = []
    files: list[Part] = []
    images: list[Part] = []
    for part in parts:
        if part["type"] == "text":
            texts.append(part["text"])
            continue
        attachment = attachments.get(UUID(part["attachment_id"]))
        if attachment is not None and attachment.id in searched:
            notes.append("(A long file is attached.)")
            continue
        if attachment is not None and attachment.kind == AttachmentKind.DOCUMENT:
            files.append(document_part(attachment, _passages_of(attachment)))
            continue
        if attachment is None:
            texts.append(_GONE)
        elif attachment.kind == AttachmentKind.IMAGE:
            images.append(StoredPart(attachment.id, TOKENS_PER_IMAGE))
        else:
            files.append(StoredPart(attachment.id, attachment.size // BYTES_PER_TOKEN))
    text = "\n\n".join(texts)
    if not files and not images and not notes:
        return text
    ours = [TextPart(note, is_ours=True) for note in notes]
    return [*files, *ours, *([TextPart(text)] if text else []), *images]


def files_read(history: Sequence[ChatMessage]) -> list[ChatMessage]:
    """`history` with the content of its files. One that is gone is named in its place: the rest of
    the chat still stands.

    Not to be called in a transaction, nor in a thread for the database (`in_storage`).

    Raises:
        StorageUnavailable.
    """
    ids = [part.attachment_id for message in history for part in _stored_parts(message)]
    attachments = Attachment.objects.in_bulk(ids) if ids else {}
    return [
        _with_files(message, attachments) if _stored_parts(message) else message
        for message in history
    ]


def has_files(history: Iterable[ChatMessage]) -> bool:
    """Whether there is anything to be read."""
    return any(_stored_parts(message) for message in history)


def _stored_parts(message: ChatMessage) -> list[StoredPart]:
    if isinstance(message.content, str):
        return []
    return [part for part in message.content if isinstance(part, StoredPart)]


def _with_files(message: ChatMessage, attachments: Mapping[UUID, Attachment]) -> ChatMessage:
    parts = [
        _content_of(attachments.get(part.attachment_id)) if isinstance(part, StoredPart) else part
        for part in message.parts
    ]
    texts = [part.text for part in parts if isinstance(part, TextPart) and not part.is_ours]
    return replace(message, content=parts if len(texts) < len(parts) else "\n\n".join(texts))


def _content_of(attachment: Attachment | None) -> Part:
    data = _read(attachment) if attachment else None
    if attachment is None or data is None:
        return TextPart(_GONE)
    if attachment.kind == AttachmentKind.IMAGE:
        url = f"data:{attachment.content_type};base64,{base64.b64encode(data).decode()}"
        return ImagePart(url, attachment_id=str(attachment.id))
    return _untrusted(attachment, "an attached file", data.decode())


def document_part(
    attachment: Attachment, passages: Iterable[Passage], *, whole: bool = True
) -> UntrustedPart:
    """Passages with their places, as the model reads and cites them. Names and headings are their
    author's words, so they stand in what is marked as data."""
    shown: list[str] = []
    place = ""
    for passage in passages:
        if passage.place != place:
            place = passage.place
            shown.append(f"[{place}]" if place else "")
        shown.append(passage.text)
    what = "an attached file" if whole else "passages of an attached file"
    example = "name of the file, place" if place else "name of the file"
    source = f"{what}; cite what you take from it as [{example}]"
    return _untrusted(attachment, source, "\n".join(shown))


def _untrusted(attachment: Attachment, source: str, text: str) -> UntrustedPart:
    name = " ".join(attachment.filename.split())
    return UntrustedPart(source, text, attachment_id=str(attachment.id), name=name)


def _passages_of(attachment: Attachment) -> list[Passage]:
    return list(attachment.passages.order_by("position").defer("embedding"))


def _read(attachment: Attachment) -> bytes | None:
    try:
        with attachment.file.open("rb") as file:
            return file.read()
    except FileNotFoundError:
        log.error("attachment_file_missing", attachment_id=str(attachment.id))
        return None


def _attachment_id(part: Mapping[str, Any]) -> UUID:
    try:
        return UUID(str(part.get("attachment_id")))
    except ValueError as error:
        raise _invalid(f"A {part.get('type')} part needs an attachment_id.") from error


def _require_storable(text: str) -> None:
    """PostgreSQL stores neither null characters nor halves of surrogate pairs."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise _invalid("The text is not valid Unicode.") from error
    if "\x00" in text:
        raise _invalid("The text must not contain null characters.")


def _invalid(message: str) -> InvalidRequest:
    return InvalidRequest(message, param="content")
