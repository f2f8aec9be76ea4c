"""What a key may, has done, and was answered."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from pydantic import Field

from backend.api.models import RequestLog
from backend.api.schemas.base import ResponseModel


class LimitOut(ResponseModel):
    """One holder of limits, with what is left at this moment."""

    holder: str = Field(description="`organization`, `user`, `API key` or `project`.")
    model: str | None = Field(description="Null: of all models together.")
    requests_limit: int = Field(description="A minute.")
    requests_remaining: int
    requests_reset_s: float = Field(description="Seconds until nothing of it is used.")
    tokens_limit: int
    tokens_remaining: int
    tokens_reset_s: float
    concurrent_limit: int
    concurrent_running: int


class KeyLimitsOut(ResponseModel):
    data: list[LimitOut]


class OutcomeOut(ResponseModel):
    path: str
    status: int
    code: str = Field(description="Of the error; empty where there was none.")
    requests: int


class KeyOutcomesOut(ResponseModel):
    """The most frequent first."""

    requests: int
    failed: int
    data: list[OutcomeOut]

    @classmethod
    def of(cls, rows: Sequence[dict[str, Any]]) -> Self:
        data = [
            OutcomeOut(
                path=row["path"], status=row["status"], code=row["code"], requests=row["total"]
            )
            for row in rows
        ]
        failed = sum(one.requests for one in data if one.status >= 400 or one.code)
        return cls(requests=sum(one.requests for one in data), failed=failed, data=data)


class RequestLogOut(ResponseModel):
    id: UUID
    created_at: datetime
    key_id: UUID
    path: str
    model: str
    status: int
    code: str
    duration_ms: int
    input_tokens: int
    output_tokens: int
    request_id: str

    @classmethod
    def of(cls, row: RequestLog) -> Self:
        names = set(RequestLogOut.model_fields) - {"key_id"}
        return cls(key_id=row.api_key_id, **{name: getattr(row, name) for name in names})


class RequestLogPageOut(ResponseModel):
    data: list[RequestLogOut]
    next_cursor: str | None = Field(description="There is more, or more to be searched.")


class RequestLogViewOut(RequestLogOut):
    """With its content, where that is kept."""

    request: dict[str, Any] | None = None
    answer: dict[str, Any] | None = None
    chat: dict[str, Any] | None = Field(
        default=None, description="The same as a chat completion; null where it is none."
    )

    @classmethod
    def with_content(
        cls, row: RequestLog, content: dict[str, Any] | None, chat: dict[str, Any] | None
    ) -> Self:
        shown = cls.of(row)
        if content is not None:
            shown.request, shown.answer, shown.chat = content["request"], content["answer"], chat
        return shown
