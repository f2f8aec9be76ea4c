"""`/api/data-policy`, `/api/exports`, `/api/erasures`: how data is kept, copied and erased.

Open in a suspended organization too, and before new terms are accepted.
"""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from ninja import Query, Router, Status

from backend.accounts.data_policy import (
    ReuseRules,
    answer_reuse_set,
    data_policy_get,
    data_policy_set,
    training_is_allowed,
    training_set,
)
from backend.accounts.models import AnswerCache, Organization
from backend.accounts.principal import AuthenticatedRequest, Principal
from backend.accounts.sessions import SSO_ORGANIZATION
from backend.api import throttling
from backend.api.authentication import SessionOnly
from backend.api.schemas.privacy import (
    AnswerReuseUpdate,
    DataPolicyOut,
    DataPolicyUpdate,
    ErasureOut,
    ExportCreate,
    ExportLinkOut,
    ExportListOut,
    ExportOut,
    OrganizationErasure,
    TrainingUpdate,
)
from backend.api.sign_in import may_act_elsewhere, may_change
from backend.conversations.cursors import NewestFirst
from backend.platform.database import in_database
from backend.platform.errors import InvalidRequest
from backend.platform.stored_files import in_storage, stored_chunks
from backend.rights.models import DataExport, SubjectKind
from backend.rights.requests import (
    DOWNLOAD_LINK_S,
    export_by_token,
    export_link,
    export_request,
    exports_of,
    own_organization_erase,
)

router = Router(tags=["privacy"], auth=SessionOnly(gate=False))


@router.get("/data-policy", response=DataPolicyOut)
async def get_data_policy(request: AuthenticatedRequest) -> DataPolicyOut:
    """How long data is kept, and what it may be used for."""
    return await in_database(_policy, request.auth)


@router.put("/data-policy", response=DataPolicyOut)
async def put_data_policy(request: AuthenticatedRequest, body: DataPolicyUpdate) -> DataPolicyOut:
    """Change the organization's, as owner or admin. Older data follows with the next purge."""
    await in_database(data_policy_set, principal=request.auth, **body.model_dump())
    return await in_database(_policy, request.auth)


@router.put("/data-policy/reuse", response=DataPolicyOut)
async def put_answer_reuse(request: AuthenticatedRequest, body: AnswerReuseUpdate) -> DataPolicyOut:
    """Which answers of the organization are reused, as owner or admin. In force within seconds."""
    rules = ReuseRules(
        body.shares_running,
        AnswerCache(body.answer_cache),
        body.answer_cache_s,
        body.reuses_sampled,
    )
    await in_database(answer_reuse_set, principal=request.auth, rules=rules)
    return await in_database(_policy, request.auth)


@router.put("/data-policy/training", response=DataPolicyOut)
async def put_training(request: AuthenticatedRequest, body: TrainingUpdate) -> DataPolicyOut:
    """Whether one's own texts may train, where the organization allows it."""
    await may_act_elsewhere(request, request.auth.user_id)
    await in_database(training_set, user_id=request.auth.user_id, allowed=body.allowed)
    return await in_database(_policy, request.auth)


@router.get("/exports", response=ExportListOut)
async def list_exports(
    request: AuthenticatedRequest,
    cursor: str | None = Query(None, max_length=500),
    limit: int = Query(20, ge=1, le=100),
) -> ExportListOut:
    """One's own, and as owner the organization's; newest first. One's own hold all of one's
    organizations: a session of an identity provider does not see them."""
    is_confined = bool(await request.session.aget(SSO_ORGANIZATION))
    return await in_database(_exports, request.auth, is_confined, cursor, limit)


@router.post("/exports", response={202: ExportOut})
async def create_export(request: AuthenticatedRequest, body: ExportCreate) -> Status:
    """Ask for a copy of all data; a mail tells when it is ready. At most one an hour."""
    await may_change(request, request.auth.user_id)
    export = await in_database(
        export_request, principal=request.auth, whole_organization=body.scope == "organization"
    )
    return Status(202, _export_out(export))


@router.post("/exports/{uuid:export_id}/link", response=ExportLinkOut)
async def create_export_link(request: AuthenticatedRequest, export_id: UUID) -> ExportLinkOut:
    """A signed link that downloads it, once, for ten minutes and without a session. Needs a sign-in
    of the last ten minutes, and none by an identity provider."""
    await may_change(request, request.auth.user_id)
    token = await in_database(export_link, principal=request.auth, export_id=export_id)
    return ExportLinkOut(url=f"/api/exports/download?token={token}", expires_in=DOWNLOAD_LINK_S)


@router.get(
    "/exports/download",
    auth=None,
    openapi_extra={"responses": {200: {"description": "The zip."}}},
)
async def download_export(
    request: HttpRequest, token: str = Query(..., max_length=1000)
) -> HttpResponseBase:
    """The zip behind a signed link."""
    await throttling.count_link(request)
    export = await in_database(export_by_token, token)
    file = await in_storage(export.file.open, "rb")
    response = StreamingHttpResponse(stored_chunks(file), content_type="application/zip")
    response.headers["Content-Length"] = str(export.size)
    name = f"parley-{export.kind}-{export.created_at:%Y-%m-%d}.zip"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@router.post("/erasures/organization", response={202: ErasureOut})
async def erase_organization(request: AuthenticatedRequest, body: OrganizationErasure) -> Status:
    """End the organization for all of its members and erase what it owns, as its owner."""
    await may_change(request, request.auth.user_id)
    erasure = await in_database(_erase, request.auth, body.name)
    return Status(202, ErasureOut(id=erasure.pk, state=erasure.state))


def _policy(principal: Principal) -> DataPolicyOut:
    policy = data_policy_get(organization_id=principal.organization_id)
    return DataPolicyOut(
        retention_days=policy.retention_days,
        stores_api_calls=policy.stores_api_calls,
        logs_requests=policy.logs_requests,
        request_log_days=policy.request_log_days,
        allows_training=policy.allows_training,
        shares_running=policy.shares_running,
        answer_cache=AnswerCache(policy.answer_cache),
        answer_cache_s=policy.answer_cache_s,
        reuses_sampled=policy.reuses_sampled,
        i_allow_training=training_is_allowed(user_id=principal.user_id),
        may_change=principal.manages_organization,
    )


def _exports(
    principal: Principal, is_confined: bool, cursor: str | None, limit: int
) -> ExportListOut:
    rows = exports_of(principal)
    if is_confined:
        rows = rows.exclude(kind=SubjectKind.USER)
    if cursor:
        rows = rows.filter(NewestFirst.decode(cursor).following())
    found = list(rows[: limit + 1])
    shown = found[:limit]
    more = len(found) > limit
    return ExportListOut(
        data=[_export_out(row) for row in shown],
        next_cursor=NewestFirst(shown[-1].created_at, shown[-1].pk).encode() if more else None,
    )


def _export_out(export: DataExport) -> ExportOut:
    return ExportOut(
        id=export.pk,
        scope="me" if export.kind == SubjectKind.USER else "organization",
        state=export.state,
        size=export.size,
        sha256=export.sha256,
        created_at=export.created_at,
        expires_at=export.expires_at,
    )


def _erase(principal: Principal, name: str) -> Any:
    organization = Organization.objects.get(pk=principal.organization_id)
    if name.strip() != organization.name:
        raise InvalidRequest("This is not the organization's name.", param="name")
    return own_organization_erase(principal=principal)
