"""The bodies of /v1/uploads and /v1/batches. Source: OpenAI API reference, "Uploads", "Batch"."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from backend.api.schemas.base import RequestModel
from backend.api.schemas.responses import Metadata

MIN_EXPIRY_S = 3_600
MAX_EXPIRY_S = 2_592_000
MAX_FILE_BYTES = 8 << 30

ObjectId = Annotated[str, StringConstraints(min_length=1, max_length=64)]


class ExpiresAfter(RequestModel):
    anchor: Literal["created_at"]
    seconds: int = Field(ge=MIN_EXPIRY_S, le=MAX_EXPIRY_S)


class UploadCreate(RequestModel):
    filename: str = Field(min_length=1, max_length=1_000)
    purpose: Literal["batch"]
    bytes: int = Field(ge=1, le=MAX_FILE_BYTES)
    mime_type: str = Field(min_length=1, max_length=100)
    expires_after: ExpiresAfter | None = None


class UploadComplete(RequestModel):
    part_ids: list[ObjectId] = Field(min_length=1, max_length=10_000)
    md5: Annotated[str, StringConstraints(max_length=32)] | None = None


class BatchCreate(RequestModel):
    input_file_id: ObjectId
    endpoint: Literal[
        "/v1/chat/completions",
        "/v1/completions",
        "/v1/embeddings",
        "/v1/moderations",
        "/v1/responses",
    ]
    completion_window: Literal["24h"]
    metadata: Metadata | None = None
    output_expires_after: ExpiresAfter | None = None
