"""`/api/usage`: tokens and cost, from the ledger."""

from typing import Literal
from uuid import UUID

from ninja import Query, Router

from backend.accounts.principal import AuthenticatedRequest
from backend.api.schemas.resources import UsageOut
from backend.platform.database import in_database
from billing.permissions import member_shown
from billing.selectors import usage_summary

router = Router(tags=["usage"])


@router.get("", response=UsageOut)
async def usage(
    request: AuthenticatedRequest,
    period: str = Query("last_30_days", max_length=20),
    group_by: Literal["day", "model", "key", "user", "project"] | None = None,
    project_id: UUID | None = None,
) -> UsageOut:
    """`period`: a month (`2026-11`), a day (`2026-11-21`) or `last_30_days`, in UTC.

    `project_id`: only what was used in this project. Owners, admins, finance members and viewers
    see all members' usage, a plain member only their own.
    """
    summary = await in_database(
        usage_summary,
        organization_id=request.auth.organization_id,
        period=period,
        group_by=group_by,
        user_id=member_shown(request.auth),
        project_id=project_id,
    )
    return UsageOut.model_validate(summary)
