"""`/v1/organization/costs`, in OpenAI's shapes, and what it shares with `usage/…` there.

A router only; `backend.api` mounts it under `/v1/organization` for API keys. The key's creator
must be an owner, an admin or a finance member.
Source: OpenAI API reference, "Costs", https://platform.openai.com/docs/api-reference/usage
"""

from typing import Annotated, Any, Literal
from uuid import UUID

from ninja import Query, Router
from pydantic import BaseModel, Field

from backend.accounts.principal import AuthenticatedRequest
from backend.platform.database import in_database
from backend.platform.errors import InvalidRequest
from billing.http import Out
from billing.usage_buckets import bucket_page, cost_buckets

router = Router(tags=["organization"])

Time = Annotated[int, Field(ge=946_684_800, le=7_258_118_400, description="Unix seconds.")]
# PostgreSQL refuses U+0000, so it is refused here, where the error can name it.
Name = Annotated[str, Field(max_length=200, pattern=r"^[^\x00]*$")]
Names = Annotated[list[Name], Field(max_length=100)]
Ids = Annotated[list[UUID], Field(max_length=100)]
Page = Annotated[str, Field(max_length=20, description="`next_page` of the page before.")]


class Groups(BaseModel):
    group_by: Names = Field(default_factory=list)


class Filters(Groups):
    """Only usage of these; an empty list is no restriction."""

    project_ids: Ids = Field(default_factory=list)
    user_ids: Ids = Field(default_factory=list)
    api_key_ids: Ids = Field(default_factory=list)
    models: Names = Field(default_factory=list)


class PageOut(Out):
    """A page of buckets."""

    object: Literal["page"] = "page"
    data: list[dict[str, Any]]
    has_more: bool
    next_page: str | None


@router.get("/costs", response=PageOut)
async def costs(
    request: AuthenticatedRequest,
    start_time: Query[Time],
    end_time: Query[Time | None] = None,
    bucket_width: Query[Literal["1d"]] = "1d",
    limit: Query[int | None] = None,
    page: Query[Page | None] = None,
    *,
    groups: Query[Groups],
) -> PageOut:
    """Costs by day, in the organization's currency. `group_by`: project_id, line_item (the model).

    `amount.value` is a JSON number, as OpenAI's clients expect; the exact decimal is in
    `/api/usage` and on the invoice.
    """
    span = bucket_page(
        start_time=start_time, end_time=end_time, bucket_width=bucket_width, limit=limit, page=page
    )
    currency, buckets = await in_database(
        cost_buckets,
        principal=request.auth,
        page=span,
        group_by=groups.group_by + listed(request, "group_by"),
    )
    return PageOut(
        data=[
            {
                "object": "bucket",
                "start_time": int(day.timestamp()),
                "end_time": int((day + span.width).timestamp()),
                "results": [
                    {
                        "object": "organization.costs.result",
                        "amount": {"value": float(result.amount), "currency": currency.lower()},
                        "line_item": result.line_item,
                        "project_id": _text(result.project_id),
                    }
                    for result in results
                ],
            }
            for day, results in buckets
        ],
        has_more=span.next_page is not None,
        next_page=span.next_page,
    )


def listed(request: AuthenticatedRequest, name: str) -> list[str]:
    """OpenAI's own clients send lists as `name[]=…`."""
    values = request.GET.getlist(f"{name}[]")[:100]
    if any("\x00" in value for value in values):
        raise InvalidRequest(f"{name} holds the character U+0000.", param=name)
    return values


def listed_ids(request: AuthenticatedRequest, name: str) -> list[UUID]:
    try:
        return [UUID(value) for value in listed(request, name)]
    except ValueError as error:
        raise InvalidRequest(f"{name} are UUIDs.", param=name) from error


def _text(value: UUID | None) -> str | None:
    return None if value is None else str(value)
