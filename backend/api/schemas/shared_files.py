"""Files of a project or an assistant."""

from datetime import datetime
from uuid import UUID

from pydantic import Field

from backend.api.schemas.base import RequestModel, ResponseModel
from backend.api.schemas.teams import Id


class SharedFileAdd(RequestModel):
    attachment_id: Id = Field(description="An upload of your own that no message uses.")


class SharedFileOut(ResponseModel):
    id: UUID
    filename: str
    content_type: str
    size: int
    created_at: datetime


class SharedFileListOut(ResponseModel):
    data: list[SharedFileOut]
