"""`/v1/files` and `/v1/uploads`: what programs store for batches."""

from typing import Annotated, Any, BinaryIO, Literal, cast

from django.core.files.storage import default_storage
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.http import content_disposition_header
from ninja import File, Form, Query, Router
from ninja.files import UploadedFile

from backend.accounts.principal import AuthenticatedRequest
from backend.api.files import rows, uploads
from backend.api.files.objects import file_object, upload_object
from backend.api.files.paging import Order
from backend.api.models import FilePurpose
from backend.api.ranges import byte_range
from backend.api.schemas.base import PageToken
from backend.api.schemas.files import MAX_EXPIRY_S, MIN_EXPIRY_S, UploadComplete, UploadCreate
from backend.api.throttling import count_use
from backend.platform.database import in_database, release_connection
from backend.platform.errors import InvalidRequest
from backend.platform.stored_files import in_storage, stored_chunks

router = Router(tags=["files"])


@router.post("/files")
async def create_file(
    request: AuthenticatedRequest,
    file: File[UploadedFile],
    purpose: Annotated[str, Form(max_length=1_000)],
    expires_after_anchor: Annotated[
        Literal["created_at"] | None, Form(alias="expires_after[anchor]")
    ] = None,
    expires_after_seconds: Annotated[
        int | None, Form(alias="expires_after[seconds]", ge=MIN_EXPIRY_S, le=MAX_EXPIRY_S)
    ] = None,
) -> dict[str, Any]:
    """Store a file of JSON lines for a batch."""
    if purpose != FilePurpose.BATCH:
        raise InvalidRequest(
            f"The purpose '{purpose[:40]}' is not supported by this server; there is 'batch'.",
            param="purpose",
            code="unsupported_parameter",
        )
    await count_use(request, request.auth, "uploads")
    await release_connection()
    size = file.size or 0
    rows.refuse_empty(size)
    row = await in_storage(
        rows.file_store,
        organization_id=request.auth.organization_id,
        user_id=request.auth.user_id,
        project_id=request.auth.project_id,
        purpose=FilePurpose.BATCH,
        filename=file.name or "",
        source=cast(BinaryIO, file.file),
        size=size,
        expires_at=rows.expiry_of(timezone.now(), expires_after_seconds),
    )
    return file_object(row)


@router.get("/files")
async def list_files(
    request: AuthenticatedRequest,
    purpose: str | None = Query(None, max_length=32),
    limit: int = Query(100, ge=1, le=10_000),
    order: Order = "desc",
    after: PageToken | None = None,
) -> dict[str, Any]:
    """The user's own files."""
    return await in_database(
        rows.files_list,
        principal=request.auth,
        purpose=purpose,
        limit=min(limit, 1_000),
        order=order,
        after=after,
    )


@router.get("/files/{file_id}")
async def get_file(request: AuthenticatedRequest, file_id: str) -> dict[str, Any]:
    """What is known of one file."""
    return file_object(await in_database(rows.file_get, principal=request.auth, text_id=file_id))


@router.get(
    "/files/{file_id}/content",
    openapi_extra={
        "responses": {
            200: {"description": "The file's content."},
            206: {"description": "The bytes that `Range` asks for."},
        }
    },
)
async def get_file_content(request: AuthenticatedRequest, file_id: str) -> HttpResponseBase:
    """Its bytes, or those of one `Range`, read a chunk at a time."""
    row = await in_database(rows.file_get, principal=request.auth, text_id=file_id)
    await release_connection()
    asked = byte_range(request.headers.get("Range"), row.size)
    file = await in_storage(default_storage.open, row.file, "rb")
    response = StreamingHttpResponse(
        stored_chunks(file, asked), content_type="application/octet-stream"
    )
    response.headers["Accept-Ranges"] = "bytes"
    response.headers["Content-Length"] = str(row.size if asked is None else len(asked))
    if asked is not None:
        response.status_code = 206
        response.headers["Content-Range"] = f"bytes {asked[0]}-{asked[-1]}/{row.size}"
    response.headers["Content-Disposition"] = content_disposition_header(True, row.filename)
    return response


@router.delete("/files/{file_id}")
async def delete_file(request: AuthenticatedRequest, file_id: str) -> dict[str, Any]:
    """Its bytes are gone at once."""
    await in_storage(rows.file_delete, principal=request.auth, text_id=file_id)
    return {"id": file_id, "object": "file", "deleted": True}


@router.post("/uploads")
async def create_upload(request: AuthenticatedRequest, body: UploadCreate) -> dict[str, Any]:
    """Announce a file that comes in parts, within an hour."""
    await count_use(request, request.auth, "uploads")
    made = await in_database(
        uploads.upload_create,
        principal=request.auth,
        filename=body.filename,
        size=body.bytes,
        content_type=body.mime_type,
        expires_after=body.expires_after.seconds if body.expires_after else None,
    )
    return upload_object(made)


@router.post("/uploads/{upload_id}/parts")
async def add_upload_part(
    request: AuthenticatedRequest, upload_id: str, data: File[UploadedFile | None] = None
) -> dict[str, Any]:
    """One part, at most 64 MiB."""
    await in_database(uploads.upload_get, principal=request.auth, text_id=upload_id)
    await release_connection()
    if data is None:
        raise InvalidRequest(
            "'data': Field required.", param="data", code="missing_required_parameter"
        )
    size = data.size or 0
    rows.refuse_empty(size, "data")
    return await in_storage(
        uploads.part_add,
        principal=request.auth,
        text_id=upload_id,
        source=cast(BinaryIO, data.file),
        size=size,
    )


@router.post("/uploads/{upload_id}/complete")
async def complete_upload(
    request: AuthenticatedRequest, upload_id: str, body: UploadComplete
) -> dict[str, Any]:
    """Put the parts together; the upload with its file."""
    ended = await in_storage(
        uploads.upload_complete,
        principal=request.auth,
        text_id=upload_id,
        part_ids=body.part_ids,
        md5=body.md5,
    )
    return upload_object(ended)


@router.post("/uploads/{upload_id}/cancel")
async def cancel_upload(request: AuthenticatedRequest, upload_id: str) -> dict[str, Any]:
    """Give it up; its parts are gone at once."""
    ended = await in_storage(uploads.upload_cancel, principal=request.auth, text_id=upload_id)
    return upload_object(ended)
