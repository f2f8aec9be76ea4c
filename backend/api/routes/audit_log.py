"""`/api/audit-log` and `/v1/organization/audit_logs`: the audit log, for owners and admins.

Source of the second: OpenAI API reference, "Audit logs",
https://platform.openai.com/docs/api-reference/audit-logs
"""

from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Query, Router
from pydantic import Field

from backend.accounts.principal import AuthenticatedRequest
from backend.accounts.selectors import user_ids_of
from backend.api.audit_log import (
    export_lines,
    export_record,
    known_actions,
    openai_shown,
    require_auditor,
    shown,
)
from backend.api.schemas.audit_log import (
    AuditActionsOut,
    AuditFilters,
    AuditPageOut,
    OpenAIAuditLogsOut,
)
from backend.audit.actions import Action
from backend.audit.selectors import Filters, events_page
from backend.platform.database import in_database
from backend.platform.errors import InvalidRequest
from backend.platform.moments import utc

product_router = Router(tags=["audit log"])
openai_router = Router(tags=["organization"])

_MAX_VALUES = 100


@product_router.get("", response=AuditPageOut)
async def list_events(
    request: AuthenticatedRequest,
    after: UUID | None = None,
    limit: int = Query(50, ge=1, le=100),
    *,
    wanted: Query[AuditFilters],
) -> AuditPageOut:
    """Who did what in the organization, newest first."""
    require_auditor(request.auth)
    page = await in_database(
        events_page,
        organization_id=request.auth.organization_id,
        filters=_filters(wanted),
        limit=limit,
        after=after,
    )
    return AuditPageOut(
        data=await in_database(shown, page.items),
        next_cursor=page.items[-1].pk if page.has_more else None,
    )


@product_router.get("/actions", response=AuditActionsOut)
async def list_actions(request: AuthenticatedRequest) -> AuditActionsOut:
    """Everything that is recorded."""
    require_auditor(request.auth)
    return AuditActionsOut(data=sorted(action.value for action in Action))


@product_router.get("/export", response={200: None})
async def export_events(
    request: AuthenticatedRequest, *, wanted: Query[AuditFilters]
) -> StreamingHttpResponse:
    """The same as JSON lines, all of it, newest first. That it was exported is recorded."""
    require_auditor(request.auth)
    filters = _filters(wanted)
    await in_database(export_record, request.auth)
    return StreamingHttpResponse(
        export_lines(request.auth, filters),
        content_type="application/jsonl; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="audit-log.jsonl"'},
    )


@openai_router.get("/audit_logs", response=OpenAIAuditLogsOut)
async def list_audit_logs(
    request: AuthenticatedRequest,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    after: UUID | None = None,
    before: UUID | None = None,
) -> OpenAIAuditLogsOut:
    """OpenAI's shape. Filters: `effective_at[gt|gte|lt|lte]` (Unix seconds), `event_types[]`,
    `actor_ids[]`, `actor_emails[]`, `project_ids[]`, `resource_ids[]`."""
    require_auditor(request.auth)
    page = await in_database(
        events_page,
        organization_id=request.auth.organization_id,
        filters=await _openai_filters(request),
        limit=limit,
        after=after,
        before=before,
    )
    data = await in_database(openai_shown, page.items)
    return OpenAIAuditLogsOut(
        data=data,
        first_id=data[0]["id"] if data else None,
        last_id=data[-1]["id"] if data else None,
        has_more=page.has_more,
    )


def _filters(wanted: AuditFilters) -> Filters:
    return Filters(
        actions=known_actions(wanted.action, param="action"),
        actor_ids=wanted.actor_id,
        target_ids=wanted.target_id,
        address=wanted.address,
        since=wanted.since and utc(wanted.since, param="since"),
        until=wanted.until and utc(wanted.until, param="until"),
    )


async def _openai_filters(request: HttpRequest) -> Filters:
    actor_ids = _ids(request, "actor_ids")
    emails = _values(request, "actor_emails")
    if emails:
        named = await in_database(user_ids_of, emails)
        # Nobody has the address: then nobody's events, not everybody's.
        actor_ids = actor_ids + named or [UUID(int=0)]
    return Filters(
        actions=_values(request, "event_types"),  # of those that do not exist here there are none
        actor_ids=actor_ids,
        project_ids=_ids(request, "project_ids"),
        target_ids=_values(request, "resource_ids"),
        since=_moment(request, "gte"),
        since_exclusive=_moment(request, "gt"),
        until=_moment(request, "lte"),
        until_exclusive=_moment(request, "lt"),
    )


def _values(request: HttpRequest, name: str) -> list[str]:
    values = [*request.GET.getlist(f"{name}[]"), *request.GET.getlist(name)]
    if len(values) > _MAX_VALUES or any("\x00" in value for value in values):
        raise InvalidRequest(
            f"{name} are at most {_MAX_VALUES} values without a NUL character.", param=name
        )
    return values


def _ids(request: HttpRequest, name: str) -> list[UUID]:
    try:
        return [UUID(value) for value in _values(request, name)]
    except ValueError as error:
        raise InvalidRequest(f"{name} are UUIDs.", param=name) from error


def _moment(request: HttpRequest, operator: str) -> datetime | None:
    name = f"effective_at[{operator}]"
    value = request.GET.get(name)
    if value is None:
        return None
    try:
        return datetime.fromtimestamp(int(value), UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidRequest(f"{name} is a number of Unix seconds.", param=name) from error
