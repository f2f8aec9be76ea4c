"""`/api/projects/{id}/files` and `/api/assistants/{id}/files`: what the model reads in every chat
with that project or assistant."""

from uuid import UUID

from ninja import Router, Status

from backend.accounts.principal import AuthenticatedRequest
from backend.api.schemas.shared_files import SharedFileAdd, SharedFileListOut, SharedFileOut
from backend.conversations import shared_files
from backend.platform.database import in_database

projects = Router(tags=["projects"])
assistants = Router(tags=["assistants"])


@projects.get("/{uuid:project_id}/files", response=SharedFileListOut)
async def list_project_files(request: AuthenticatedRequest, project_id: UUID) -> SharedFileListOut:
    """In the order in which they were uploaded; `/api/attachments/{id}` has the content of each."""
    files = await in_database(
        shared_files.project_files, principal=request.auth, project_id=project_id
    )
    return SharedFileListOut(data=[SharedFileOut.model_validate(each) for each in files])


@projects.post("/{uuid:project_id}/files", response={201: SharedFileOut})
async def add_project_file(
    request: AuthenticatedRequest, project_id: UUID, body: SharedFileAdd
) -> Status:
    """Make an upload (`POST /api/attachments`; a document or text) a file of the project: whoever
    may use the project may read it, and the model reads it in every chat there."""
    file = await in_database(
        shared_files.project_file_add,
        principal=request.auth,
        project_id=project_id,
        attachment_id=body.attachment_id,
    )
    return Status(201, SharedFileOut.model_validate(file))


@projects.delete("/{uuid:project_id}/files/{uuid:attachment_id}", response={204: None})
async def remove_project_file(
    request: AuthenticatedRequest, project_id: UUID, attachment_id: UUID
) -> Status:
    """No answer reads it from now on, and within a day it is erased."""
    await in_database(
        shared_files.project_file_remove,
        principal=request.auth,
        project_id=project_id,
        attachment_id=attachment_id,
    )
    return Status(204, None)


@assistants.get("/{uuid:assistant_id}/files", response=SharedFileListOut)
async def list_assistant_files(
    request: AuthenticatedRequest, assistant_id: UUID
) -> SharedFileListOut:
    """In the order in which they were uploaded; `/api/attachments/{id}` has the content of each."""
    files = await in_database(
        shared_files.assistant_files, principal=request.auth, assistant_id=assistant_id
    )
    return SharedFileListOut(data=[SharedFileOut.model_validate(each) for each in files])


@assistants.post("/{uuid:assistant_id}/files", response={201: SharedFileOut})
async def add_assistant_file(
    request: AuthenticatedRequest, assistant_id: UUID, body: SharedFileAdd
) -> Status:
    """Make an upload (`POST /api/attachments`; a document or text) a file of the assistant: whoever
    may use the assistant may read it, and the model reads it in every chat with it."""
    file = await in_database(
        shared_files.assistant_file_add,
        principal=request.auth,
        assistant_id=assistant_id,
        attachment_id=body.attachment_id,
    )
    return Status(201, SharedFileOut.model_validate(file))


@assistants.delete("/{uuid:assistant_id}/files/{uuid:attachment_id}", response={204: None})
async def remove_assistant_file(
    request: AuthenticatedRequest, assistant_id: UUID, attachment_id: UUID
) -> Status:
    """No answer reads it from now on, and within a day it is erased."""
    await in_database(
        shared_files.assistant_file_remove,
        principal=request.auth,
        assistant_id=assistant_id,
        attachment_id=attachment_id,
    )
    return Status(204, None)
