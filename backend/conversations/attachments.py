"""Uploads. What a file is, its content says; its name and its declared type are not believed.

Images are decoded and written anew, which drops EXIF (with its places and faces), text chunks,
colour profiles and anything hidden behind the image. Text must be UTF-8. A document (PDF, Word,
Excel, PowerPoint) is read in a process of its own (documents/), and so is HTML; it is kept as it
came, to be handed back. All are stored under random names outside the static files; only
`attachment_get` leads to them.
"""

import contextlib
import io
import secrets
import unicodedata
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import BinaryIO
from uuid import UUID

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q
from PIL import Image, ImageOps

from backend.accounts.principal import Principal
from backend.accounts.project_access import projects_open_to
from backend.conversations.assistant_access import assistants_of
from backend.conversations.models import Attachment, AttachmentKind, Passage
from backend.conversations.quotas import attachment_room_check
from backend.platform.errors import ContentBlocked, InvalidRequest, NotFound, PayloadTooLarge
from documents.passages import text_passages
from documents.run import content_type as document_type
from documents.run import document_kind, document_read, looks_like_document
from documents.types import Kind, UnreadableDocument
from documents.types import Passage as ReadPassage
from safety.audit.selectors import policy_for
from safety.audit.services import decision_record
from safety.judge.decoding import UnreadableImage, image_decode
from safety.judge.images import check_image

TEXT_MAX_BYTES = 1024 * 1024  # a few hundred thousand tokens: more than any window takes
IMAGE_MAX_SIDE = 2048  # vision models scale down to less
PASSAGES_FROM = 8_000
"""Characters of a text from which it has passages: a shorter one fits any window whole."""
HEAD_BYTES = 1024
_PASSAGES_AT_ONCE = 500
# Others (palettes, 16 bits) lose colours when they are scaled as they are.
_SCALABLE_MODES = frozenset({"RGB", "RGBA", "L", "CMYK"})
_NAME_LIMIT = 255


def attachment_create(*, principal: Principal, filename: str, file: BinaryIO) -> Attachment:
    """Check, re-encode and store an upload; a message then names it in a part.

    Raises:
        PayloadTooLarge: over ATTACHMENT_MAX_BYTES, or TEXT_MAX_BYTES for text.
        InvalidRequest: no image or document that we know nor UTF-8 text, broken, too many pixels;
            a document's `code` says why it could not be read (documents/types.py).
        InsufficientQuota: the caller's attachments take what the plan allows.
        ContentBlocked: an image that the organization's policy refuses; nothing is stored of it
            but that decision.
    """
    data = file.read(settings.ATTACHMENT_MAX_BYTES + 1)
    if len(data) > settings.ATTACHMENT_MAX_BYTES:
        raise _too_large("A file", settings.ATTACHMENT_MAX_BYTES)
    if not data:
        raise _invalid("The file is empty.")
    if _looks_like_image(data):
        kind, (data, content_type, suffix) = AttachmentKind.IMAGE, _image_clean(data)
        _refuse_by_policy(principal, data)
        passages: list[ReadPassage] = []
    elif looks_like_document(data[:HEAD_BYTES]):
        kind = AttachmentKind.DOCUMENT
        content_type, suffix, passages = _document_read(data)
    else:
        kind, (data, content_type, suffix) = AttachmentKind.TEXT, _text_clean(data)
        passages = _passages_of_text(data, filename)

    name = secrets.token_hex(16)
    # The row first: a process that dies in between leaves a row, which is purged, and no file that
    # nobody knows.
    with transaction.atomic():
        attachment_room_check(principal, len(data))
        attachment = Attachment.objects.create(
            organization_id=principal.organization_id,
            user_id=principal.user_id,
            kind=kind,
            filename=_filename_clean(filename),
            content_type=content_type,
            size=len(data),
            file=f"attachments/{name[:2]}/{name}{suffix}",
        )
        _passages_store(attachment, passages)
    with contextlib.ExitStack() as undo:
        undo.callback(attachment.delete)
        default_storage.save(attachment.file.name, ContentFile(data))
        undo.pop_all()
    return attachment


def attachment_get(*, principal: Principal, attachment_id: UUID) -> Attachment:
    """The user's own attachment, unless its conversation is deleted, or a file of a project
    or an assistant whose files they read. Raises NotFound."""
    own = Q(user_id=principal.user_id, conversation__deleted_at=None)
    if not principal.is_api_key:
        own |= Q(project__in=projects_open_to(principal))
        own |= Q(assistant__in=assistants_of(principal))
    attachment = (
        Attachment.objects.filter(own, pk=attachment_id, organization_id=principal.organization_id)
        .select_related("conversation")
        .first()
    )
    if attachment is None:
        raise NotFound(f"There is no attachment {attachment_id}.")
    return attachment


def passages_ensure(attachment: Attachment) -> None:
    """Cut a text that has no passages yet, because it is short: beside many others it may have to
    be searched too."""
    if attachment.kind != AttachmentKind.TEXT or attachment.passages.exists():
        return
    with attachment.file.open("rb") as file:
        text = file.read().decode()
    _passages_store(attachment, text_passages(text, filename=attachment.filename))


def _passages_store(attachment: Attachment, passages: Iterable[ReadPassage]) -> None:
    Passage.objects.bulk_create(
        (
            Passage(attachment=attachment, position=at, place=one.place, text=one.text)
            for at, one in enumerate(passages)
        ),
        batch_size=_PASSAGES_AT_ONCE,
    )


def _document_read(data: bytes) -> tuple[str, str, list[ReadPassage]]:
    """(type, suffix, passages)"""
    try:
        kind = document_kind(data)
        if kind is None:
            raise _unknown()
        return document_type(kind), f".{kind}", document_read(data, kind)
    except UnreadableDocument as error:
        raise InvalidRequest(str(error), param="file", code=error.code) from error


def _passages_of_text(data: bytes, filename: str) -> list[ReadPassage]:
    """Of a long text; HTML's as its reader sees it, where it can be read so."""
    if len(data) < PASSAGES_FROM:
        return []
    text = data.decode()
    if text.lstrip()[:100].lower().startswith(("<!doctype html", "<html")):
        html: Kind = "html"
        with contextlib.suppress(UnreadableDocument):
            return document_read(data, html)
    return list(text_passages(text, filename=filename))


def _refuse_by_policy(principal: Principal, image: bytes) -> None:
    """Score the image, record what is found, and raise ContentBlocked where it may not stay.

    An image has no model yet: the policy is the organization's for every model.
    """
    policy = policy_for(
        organization_id=principal.organization_id, model="", key_id=principal.key_id
    )
    decision = check_image(image, policy)
    decision_record(
        decision=decision,
        organization_id=principal.organization_id,
        generation_id=None,
        user_id=principal.user_id,
        key_id=principal.key_id,
    )
    if decision.blocked:
        raise ContentBlocked("This image was refused", categories=decision.categories, param="file")


def _looks_like_image(data: bytes) -> bool:
    return data.startswith((b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a")) or (
        data[:4] == b"RIFF" and data[8:12] == b"WEBP"
    )


def _image_clean(data: bytes) -> tuple[bytes, str, str]:
    """The image alone, upright, at most IMAGE_MAX_SIDE wide and high: (data, type, suffix)."""
    try:
        image = image_decode(data, side=IMAGE_MAX_SIDE)
    except UnreadableImage as error:
        raise _invalid(str(error)) from error
    is_png = image.format == "PNG"
    if image.mode not in _SCALABLE_MODES or "transparency" in image.info:
        image = _in_colour(image)
    # Scaled before anything else: each further step makes a copy.
    image.thumbnail((IMAGE_MAX_SIDE, IMAGE_MAX_SIDE))
    ImageOps.exif_transpose(image, in_place=True)
    image = _in_colour(image)
    bare = Image.new(image.mode, image.size)
    bare.paste(image)
    target = io.BytesIO()
    if image.mode == "RGB" and not is_png:
        bare.save(target, "JPEG", quality=90)
        return target.getvalue(), "image/jpeg", ".jpg"
    bare.save(target, "PNG", optimize=False)
    return target.getvalue(), "image/png", ".png"


def _in_colour(image: Image.Image) -> Image.Image:
    return image.convert("RGBA" if image.has_transparency_data else "RGB")


def _text_clean(data: bytes) -> tuple[bytes, str, str]:
    if len(data) > TEXT_MAX_BYTES:
        raise _too_large("A text file", TEXT_MAX_BYTES)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unknown() from error
    if any(unicodedata.category(c) == "Cc" and c not in "\t\n\r\f" for c in text):
        raise _invalid("The file contains control characters; it is not a text file.")
    return text.encode(), "text/plain; charset=utf-8", ".txt"


def _filename_clean(filename: str) -> str:
    """The last part of the name, without anything that could break a line or a header."""
    name = PurePosixPath(filename.replace("\\", "/")).name
    name = "".join(c for c in name if unicodedata.category(c)[0] != "C").strip()
    return name[-_NAME_LIMIT:] or "file"


def _unknown() -> InvalidRequest:
    return _invalid(
        "The file is no image (PNG, JPEG, WebP, GIF), no document (PDF, DOCX, XLSX, PPTX) and no"
        " UTF-8 text."
    )


def _invalid(message: str) -> InvalidRequest:
    return InvalidRequest(message, param="file", code="unsupported_file")


def _too_large(what: str, limit: int) -> PayloadTooLarge:
    return PayloadTooLarge(f"{what} may have at most {limit // 1024:,} KiB.", param="file")
