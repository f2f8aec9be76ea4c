"""What is remembered of a person, as the page reads and writes it."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from backend.api.schemas.base import RequestModel, ResponseModel
from backend.conversations.memory_words import MAX_MEMORY

MemoryText = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_MEMORY)
]


class MemoryCreate(RequestModel):
    text: MemoryText
    project_id: Annotated[UUID, Field(strict=False)] | None = Field(
        default=None, description="Whose chats read it. Default: those of the default project."
    )


class MemoryTextBody(RequestModel):
    text: MemoryText


class MemorySwitch(RequestModel):
    is_on: bool


class MemoryPolicyBody(RequestModel):
    is_allowed: bool


class MemoryOut(ResponseModel):
    id: UUID
    text: str
    project_id: UUID | None = Field(description="Null: the default project.")
    created_at: datetime
    used_at: datetime | None = Field(
        description="When a prompt last had words of it, to about an hour."
    )


class MemoryListOut(ResponseModel):
    data: list[MemoryOut]
    is_on: bool = Field(description="Your own switch.")
    is_allowed: bool = Field(description="The organization's.")


class ForgottenOut(ResponseModel):
    forgotten: int


class MemoryNoteOut(ResponseModel):
    """What became of a prompt's words in memory."""

    state: Literal["proposed", "saved", "dismissed"]
    text: str
    memory_id: UUID | None


class UsedMemoryOut(ResponseModel):
    id: UUID
    text: str | None = Field(description="As it is now; null: it has been forgotten.")
