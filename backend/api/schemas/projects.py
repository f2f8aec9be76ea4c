"""Projects, who and what is in them, and their limits."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from backend.accounts.models import Project
from backend.accounts.projects import (
    MAX_INSTRUCTIONS,
    MAX_MODELS,
    MAX_RATE,
    MAX_RETENTION_DAYS,
)
from backend.accounts.team_models import ProjectMember
from backend.api.schemas.base import ModelName, Name, RequestModel, ResponseModel
from backend.api.schemas.resources import KeyOut
from backend.api.schemas.teams import Id, ProjectRoleName

PerMinute = Annotated[int, Field(ge=1, le=MAX_RATE)]


class ProjectCreate(RequestModel):
    name: Name


class ProjectUpdate(RequestModel):
    """What is left out stays as it is."""

    name: Name | None = None
    allowed_models: list[ModelName] | None = Field(
        default=None, max_length=MAX_MODELS, description="Empty: all."
    )
    retention_days: Annotated[int, Field(ge=0, le=MAX_RETENTION_DAYS)] | None = Field(
        default=None, description="Its chats go so many days after the last turn; null: never."
    )
    instructions: str | None = Field(
        default=None,
        max_length=MAX_INSTRUCTIONS,
        description="What the model reads in each of its chats. The default project has none.",
    )
    logs_requests: bool | None = Field(
        default=None, description="False: requests of its keys are not logged."
    )


class ProjectOut(ResponseModel):
    id: UUID
    name: str
    is_default: bool
    allowed_models: list[str]
    retention_days: int | None
    instructions: str = Field(description="Empty for who sees the project without being in it.")
    logs_requests: bool
    created_at: datetime
    archived_at: datetime | None

    @classmethod
    def of(cls, project: Project, *, is_open: bool) -> "ProjectOut":
        """As a caller sees it to whom it `is_open`, or who sees only that there is one."""
        shown = cls.model_validate(project)
        return shown if is_open else shown.model_copy(update={"instructions": ""})


class ProjectViewOut(ProjectOut):
    is_open: bool = Field(
        description="Whether the caller reads its instructions and files, and begins chats in it."
    )
    manages: bool = Field(description="Whether the caller may change it and what is in it.")


class ProjectPageOut(ResponseModel):
    data: list[ProjectOut]
    next_cursor: str | None


class ProjectMemberAdd(RequestModel):
    user_id: Id
    role: ProjectRoleName = "member"


class ProjectMemberUpdate(RequestModel):
    role: ProjectRoleName


class ProjectMemberOut(ResponseModel):
    user_id: UUID
    name: str
    email: str
    role: str
    created_at: datetime

    @classmethod
    def of(cls, place: ProjectMember) -> "ProjectMemberOut":
        user = place.membership.user
        return cls(
            user_id=user.pk,
            name=user.name,
            email=user.email,
            role=place.role,
            created_at=place.created_at,
        )


class ProjectMemberPageOut(ResponseModel):
    data: list[ProjectMemberOut]
    next_cursor: str | None


class ServiceAccountCreate(RequestModel):
    name: Name


class ServiceAccountOut(ResponseModel):
    id: UUID
    name: str
    created_at: datetime


class NewServiceAccountOut(ServiceAccountOut):
    secret: str = Field(description="Of its first key; shown this once.")


class ServiceAccountPageOut(ResponseModel):
    data: list[ServiceAccountOut]
    next_cursor: str | None


class ProjectLimitSet(RequestModel):
    requests_per_minute: PerMinute
    tokens_per_minute: PerMinute


class ProjectLimitOut(ResponseModel):
    model: str
    requests_per_minute: int
    tokens_per_minute: int


class ProjectLimitListOut(ResponseModel):
    data: list[ProjectLimitOut]


class ProjectKeyPageOut(ResponseModel):
    data: list[KeyOut]
    next_cursor: str | None
