"""How data is kept, exported and erased."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from backend.accounts.data_policy import MAX_ANSWER_CACHE_S, MAX_LOG_DAYS, MIN_ANSWER_CACHE_S
from backend.accounts.models import AnswerCache
from backend.api.schemas.base import RequestModel, ResponseModel


class DataPolicyOut(ResponseModel):
    """Of the organization in which the caller works, and of the caller."""

    retention_days: int | None = Field(
        description="Null: until it is deleted; 0: nothing is stored after its delivery."
    )
    stores_api_calls: bool
    logs_requests: bool = Field(description="Requests of API keys are kept, to be searched.")
    request_log_days: int
    allows_training: bool
    i_allow_training: bool
    shares_running: bool = Field(
        description="Identical requests that arrive while one is answered get its answer."
    )
    answer_cache: AnswerCache = Field(
        description="Which later requests are answered by a stored answer: none (`off`), identical"
        " ones (`exact`)."
    )
    answer_cache_s: int = Field(description="Seconds that an answer is stored for that.")
    reuses_sampled: bool = Field(
        description="Also answers that are sampled: at a temperature, and without a seed."
    )
    may_change: bool = Field(description="The caller may change what is the organization's.")


class DataPolicyUpdate(RequestModel):
    retention_days: Annotated[int, Field(ge=0, le=3650)] | None
    stores_api_calls: bool
    allows_training: bool
    logs_requests: bool | None = Field(default=None, description="Null: as it is.")
    request_log_days: Annotated[int, Field(ge=1, le=MAX_LOG_DAYS)] | None = Field(
        default=None, description="Null: as it is."
    )


class AnswerReuseUpdate(RequestModel):
    shares_running: bool
    answer_cache: Literal["off", "exact"]
    answer_cache_s: Annotated[int, Field(ge=MIN_ANSWER_CACHE_S, le=MAX_ANSWER_CACHE_S)] = 3600
    reuses_sampled: bool = False


class TrainingUpdate(RequestModel):
    allowed: bool


class ExportCreate(RequestModel):
    scope: Literal["me", "organization"] = "me"


class ExportOut(ResponseModel):
    id: UUID
    scope: str = Field(description="`me` or `organization`.")
    state: str = Field(description="`queued`, `running`, `done` or `failed`.")
    size: int
    sha256: str
    created_at: datetime
    expires_at: datetime | None


class ExportListOut(ResponseModel):
    data: list[ExportOut]
    next_cursor: str | None


class ExportLinkOut(ResponseModel):
    url: str
    expires_in: int = Field(description="Seconds.")


class OrganizationErasure(RequestModel):
    name: Annotated[str, StringConstraints(max_length=200)] = Field(
        description="The organization's name, typed again."
    )


class ErasureOut(ResponseModel):
    id: UUID
    state: str
