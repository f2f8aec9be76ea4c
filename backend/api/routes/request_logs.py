"""`/api/request-logs`: what API keys have asked and were answered, where it is logged.

For signed-in people: a leaked key must not read what the others have asked.
"""

from uuid import UUID

from ninja import Query, Router

from backend.accounts.principal import AuthenticatedRequest
from backend.api.request_content import content_if_readable
from backend.api.request_logs.queries import Filters, Outcome, log_get, logs_page
from backend.api.request_logs.replay import chat_of
from backend.api.schemas.request_logs import RequestLogOut, RequestLogPageOut, RequestLogViewOut
from backend.api.throttling import count_use
from backend.platform.database import in_database

router = Router(tags=["keys"])


@router.get("", response=RequestLogPageOut)
async def list_request_logs(
    request: AuthenticatedRequest,
    key_id: UUID | None = None,
    outcome: Outcome | None = None,
    model: str | None = Query(None, max_length=100),
    text: str | None = Query(None, max_length=200),
    cursor: str | None = Query(None, max_length=500),
    limit: int = Query(20, ge=1, le=100),
) -> RequestLogPageOut:
    """The newest first; owners and admins see those of all keys. A search for `text` reads a
    bounded number of contents: `next_cursor` goes on."""
    if text:
        await count_use(request, request.auth, "searches")
    page = await in_database(
        logs_page,
        principal=request.auth,
        filters=Filters(key_id, outcome, model, text),
        cursor=cursor,
        limit=limit,
    )
    return RequestLogPageOut(
        data=[RequestLogOut.of(row) for row in page.rows], next_cursor=page.next_cursor
    )


@router.get("/{uuid:log_id}", response=RequestLogViewOut)
async def get_request_log(request: AuthenticatedRequest, log_id: UUID) -> RequestLogViewOut:
    """One, with what was asked and answered; the audit log says that it was read."""
    row = await in_database(log_get, log_id=log_id, principal=request.auth)
    content = content_if_readable(row)
    chat = chat_of(row.path, content["request"]) if content else None
    return RequestLogViewOut.with_content(row, content, chat)
