"""`/api/appeals`: a user asks a person to look at what was stopped, and sees what became of it.

A router only; `backend.api` mounts it with its authentication, errors and encoding.
"""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from django.http import HttpRequest
from ninja import Router, Status
from pydantic import BaseModel, Field, StringConstraints

from backend.accounts.principal import Principal
from backend.platform.bodies import RequestModel
from backend.platform.database import in_database
from safety.audit.models import Review
from safety.audit.selectors import appeals_page
from safety.audit.services import appeal_create

router = Router(tags=["safety"])


class AuthenticatedRequest(HttpRequest):
    """What a route gets: for type checkers only."""

    auth: Principal


class AppealIn(RequestModel):
    generation_id: Annotated[UUID, Field(strict=False)]
    reason: Annotated[str, StringConstraints(strip_whitespace=True, max_length=2_000)] = ""


class AppealOut(BaseModel):
    """An appeal as its author sees it."""

    id: UUID
    generation_id: UUID
    state: Literal["open", "confirmed", "overturned"]
    note: str = Field(description="What the reviewer wrote to the user.")
    created_at: datetime
    resolved_at: datetime | None


class AppealListOut(BaseModel):
    data: list[AppealOut]
    next_cursor: str | None


@router.post("", response={201: AppealOut}, summary="Ask a person to look at a stopped answer")
async def create_appeal(request: AuthenticatedRequest, body: AppealIn) -> Status:
    """404 where nothing of the caller's was stopped, 409 where it is under review already."""
    review = await in_database(
        appeal_create,
        principal=request.auth,
        generation_id=body.generation_id,
        appeal=body.reason,
    )
    return Status(201, _out(review))


@router.get("", response=AppealListOut, summary="What became of the caller's appeals")
async def list_appeals(
    request: AuthenticatedRequest,
    generation_id: UUID | None = None,
    cursor: Annotated[str, Field(max_length=100)] | None = None,
    limit: Annotated[int, Field(ge=1, le=100)] = 100,
) -> AppealListOut:
    """Newest first, or the one about a generation; empty where there is none."""
    page = await in_database(
        appeals_page,
        principal=request.auth,
        generation_id=generation_id,
        after=cursor,
        limit=limit,
    )
    return AppealListOut(data=[_out(each) for each in page.items], next_cursor=page.next_cursor)


def _out(review: Review) -> AppealOut:
    return AppealOut.model_validate(
        {
            "id": review.id,
            "generation_id": review.decision.generation_id,
            "state": review.state,
            "note": review.note,
            "created_at": review.created_at,
            "resolved_at": review.resolved_at,
        }
    )
