"""`/api/attachments`: files that a message then names in a part."""

from typing import BinaryIO, cast
from uuid import UUID

from django.http import HttpResponse
from django.utils.http import content_disposition_header
from ninja import File, Router, Status
from ninja.files import UploadedFile

from backend.accounts.principal import AuthenticatedRequest
from backend.api.schemas.resources import AttachmentOut
from backend.api.throttling import count_use
from backend.conversations.attachments import HEAD_BYTES, attachment_create, attachment_get
from backend.conversations.models import Attachment
from backend.platform.bounded_threads import DOCUMENT_THREADS, IMAGE_THREADS
from backend.platform.database import in_database, release_connection
from backend.platform.stored_files import in_storage
from documents.run import looks_like_document

router = Router(tags=["attachments"])


@router.post("", response={201: AttachmentOut})
async def upload(request: AuthenticatedRequest, file: File[UploadedFile]) -> Status:
    """An image (re-encoded, so that no metadata survives), a document (PDF, DOCX, XLSX, PPTX; read
    in a process of its own) or UTF-8 text."""
    await count_use(request, request.auth, "uploads")
    # While it waits for its turn, others need the connection that the session was read with.
    await release_connection()
    content = cast(BinaryIO, file.file)
    is_document = looks_like_document(content.read(HEAD_BYTES))
    content.seek(0)
    threads = DOCUMENT_THREADS if is_document else IMAGE_THREADS
    attachment = await threads.run_for(
        request.auth.user_id,
        attachment_create,
        principal=request.auth,
        filename=file.name or "",
        file=content,
    )
    return Status(201, AttachmentOut.model_validate(attachment))


@router.get(
    "/{uuid:attachment_id}",
    openapi_extra={"responses": {200: {"description": "The file's content."}}},
)
async def download(request: AuthenticatedRequest, attachment_id: UUID) -> HttpResponse:
    """The caller's own file. All but images is offered for saving: a browser must not render it."""
    attachment = await in_database(
        attachment_get, principal=request.auth, attachment_id=attachment_id
    )
    await release_connection()
    is_image = attachment.content_type.startswith("image/")
    content = await in_storage(_content, attachment)
    response = HttpResponse(content, content_type=attachment.content_type)
    disposition = content_disposition_header(not is_image, attachment.filename)
    if disposition is not None:
        response.headers["Content-Disposition"] = disposition
    return response


def _content(attachment: Attachment) -> bytes:
    with attachment.file.open("rb") as file:
        return file.read()
