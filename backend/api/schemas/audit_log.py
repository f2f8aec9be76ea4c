"""The audit log: the product's shape and OpenAI's."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from backend.api.schemas.base import ResponseModel


class AuditActorOut(ResponseModel):
    """`staff`: the operator's, whose names are not told; `scim`: an identity provider."""

    kind: Literal["user", "api_key", "staff", "scim", "system"]
    user_id: UUID | None
    email: str | None
    key_id: UUID | None


class AuditEventOut(ResponseModel):
    id: UUID
    created_at: datetime
    action: str
    actor: AuditActorOut
    address: str
    user_agent: str
    target_type: str
    target_id: str
    project_id: UUID | None
    details: dict[str, Any]
    request_id: str


class AuditPageOut(ResponseModel):
    data: list[AuditEventOut]
    next_cursor: UUID | None = Field(description="`after` of the following page; null at the end.")


class AuditActionsOut(ResponseModel):
    data: list[str] = Field(description="Everything that is recorded, to filter by.")


Filter = Annotated[str, Field(max_length=200)]


class AuditFilters(BaseModel):
    """What is left out restricts nothing."""

    action: list[Filter] = Field(default_factory=list, max_length=50)
    actor_id: list[UUID] = Field(default_factory=list, max_length=50)
    target_id: list[Filter] = Field(default_factory=list, max_length=50)
    address: str = Field("", max_length=45)
    since: datetime | None = None
    until: datetime | None = None


class OpenAIAuditLogsOut(ResponseModel):
    """OpenAI's list object."""

    object: Literal["list"] = "list"
    data: list[dict[str, Any]]
    first_id: str | None
    last_id: str | None
    has_more: bool
