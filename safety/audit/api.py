"""The appeal of a user, for the page: mounted by `backend.api` under `/api`.

    from safety.audit.api import router
    api.add_router("/appeals", router)        # with the session-or-key authentication

Authentication is the mounting API's: it puts the `Principal` into `request.auth`.
"""

from typing import cast
from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import HttpRequest
from ninja import Field, Router, Schema

from backend.accounts.principal import Principal
from safety.audit.models import Review
from safety.audit.selectors import appeal_for
from safety.audit.services import appeal_create

router = Router(tags=["safety"])


class AppealIn(Schema):
    generation_id: UUID
    reason: str = Field("", max_length=2_000)


class AppealOut(Schema):
    id: UUID
    state: str
    note: str

    @classmethod
    def of(cls, review: Review) -> "AppealOut":
        return cls(id=review.id, state=review.state, note=review.note)


@router.post("", response={201: AppealOut}, summary="Ask a person to look at a stopped answer")
async def appeal(request: HttpRequest, body: AppealIn) -> tuple[int, AppealOut]:
    """404 where nothing of the caller's was stopped, 409 where it is under review already."""
    principal = cast(Principal, request.auth)  # type: ignore[attr-defined]
    review = await sync_to_async(appeal_create)(
        principal=principal, generation_id=body.generation_id, appeal=body.reason
    )
    return 201, AppealOut.of(review)


@router.get("/{uuid:generation_id}", response=AppealOut, summary="What became of an appeal")
async def appeal_state(request: HttpRequest, generation_id: UUID) -> AppealOut:
    """404 where the caller has not appealed."""
    principal = cast(Principal, request.auth)  # type: ignore[attr-defined]
    return AppealOut.of(
        await sync_to_async(appeal_for)(principal=principal, generation_id=generation_id)
    )
