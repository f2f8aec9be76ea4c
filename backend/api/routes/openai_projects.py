"""`/v1/organization/projects` and what is below it, in OpenAI's shapes.

For keys with the scope `administration`. Source: OpenAI API reference, "Administration".
"""

from typing import Any
from uuid import UUID

from ninja import Router

from backend.accounts.principal import AuthenticatedRequest
from backend.accounts.project_access import project_get
from backend.accounts.project_members import (
    project_member_add,
    project_member_remove,
    project_member_role_set,
)
from backend.accounts.project_selectors import (
    project_key_get,
    project_keys_page,
    project_limits_list,
    project_member_get,
    project_members_page,
    projects_page,
    service_account_get,
    service_accounts_page,
)
from backend.accounts.projects import (
    project_archive,
    project_create,
    project_limit_set,
    project_update,
)
from backend.accounts.service_accounts import service_account_create, service_account_delete
from backend.accounts.services import api_key_end
from backend.api.routes.openai_organization import After, Limit
from backend.api.schemas.openai_organization import (
    ListOut,
    ProjectBody,
    ProjectUserCreate,
    ProjectUserUpdate,
    RateLimitUpdate,
    ServiceAccountBody,
    deleted,
    list_of,
    new_service_account_object,
    page_of,
    project_key_object,
    project_object,
    project_user_object,
    rate_limit_object,
    service_account_object,
)
from backend.generation.pools.config import load_pools
from backend.platform.database import in_database
from backend.platform.errors import NotFound

router = Router(tags=["organization"])

Shown = dict[str, Any]


@router.get("/projects", response=ListOut)
async def list_organization_projects(
    request: AuthenticatedRequest,
    after: After | None = None,
    limit: Limit = 20,
    include_archived: bool = False,
) -> ListOut:
    """The oldest first."""
    page = await in_database(
        projects_page,
        principal=request.auth,
        archived=include_archived,
        after=after,
        limit=limit,
    )
    return page_of(page, [project_object(each) for each in page.items])


@router.post("/projects", response=Shown)
async def create_organization_project(request: AuthenticatedRequest, body: ProjectBody) -> Shown:
    """A new project."""
    return project_object(await in_database(project_create, principal=request.auth, name=body.name))


@router.get("/projects/{uuid:project_id}", response=Shown)
async def retrieve_organization_project(request: AuthenticatedRequest, project_id: UUID) -> Shown:
    """One project."""
    return project_object(await in_database(project_get, request.auth, project_id))


@router.post("/projects/{uuid:project_id}", response=Shown)
async def modify_organization_project(
    request: AuthenticatedRequest, project_id: UUID, body: ProjectBody
) -> Shown:
    """Another name."""
    return project_object(
        await in_database(
            project_update, principal=request.auth, project_id=project_id, name=body.name
        )
    )


@router.post("/projects/{uuid:project_id}/archive", response=Shown)
async def archive_organization_project(request: AuthenticatedRequest, project_id: UUID) -> Shown:
    """Close it for good."""
    return project_object(
        await in_database(project_archive, principal=request.auth, project_id=project_id)
    )


@router.get("/projects/{uuid:project_id}/users", response=ListOut)
async def list_project_users(
    request: AuthenticatedRequest,
    project_id: UUID,
    after: After | None = None,
    limit: Limit = 20,
) -> ListOut:
    """Its members."""
    page = await in_database(
        project_members_page,
        principal=request.auth,
        project_id=project_id,
        after=after,
        limit=limit,
    )
    return page_of(page, [project_user_object(each) for each in page.items])


@router.post("/projects/{uuid:project_id}/users", response=Shown)
async def create_project_user(
    request: AuthenticatedRequest, project_id: UUID, body: ProjectUserCreate
) -> Shown:
    """Add a member of the organization."""
    await in_database(
        project_member_add,
        principal=request.auth,
        project_id=project_id,
        user_id=body.user_id,
        role=body.role,
    )
    return await _user(request, project_id, body.user_id)


@router.get("/projects/{uuid:project_id}/users/{uuid:user_id}", response=Shown)
async def retrieve_project_user(
    request: AuthenticatedRequest, project_id: UUID, user_id: UUID
) -> Shown:
    """One of its members."""
    return await _user(request, project_id, user_id)


@router.post("/projects/{uuid:project_id}/users/{uuid:user_id}", response=Shown)
async def modify_project_user(
    request: AuthenticatedRequest, project_id: UUID, user_id: UUID, body: ProjectUserUpdate
) -> Shown:
    """Another role in the project."""
    await in_database(
        project_member_role_set,
        principal=request.auth,
        project_id=project_id,
        user_id=user_id,
        role=body.role,
    )
    return await _user(request, project_id, user_id)


@router.delete("/projects/{uuid:project_id}/users/{uuid:user_id}", response=Shown)
async def delete_project_user(
    request: AuthenticatedRequest, project_id: UUID, user_id: UUID
) -> Shown:
    """Their keys in the project stop with it."""
    await in_database(
        project_member_remove, principal=request.auth, project_id=project_id, user_id=user_id
    )
    return deleted("project.user", user_id)


@router.get("/projects/{uuid:project_id}/service_accounts", response=ListOut)
async def list_project_service_accounts(
    request: AuthenticatedRequest,
    project_id: UUID,
    after: After | None = None,
    limit: Limit = 20,
) -> ListOut:
    """Its service accounts."""
    page = await in_database(
        service_accounts_page,
        principal=request.auth,
        project_id=project_id,
        after=after,
        limit=limit,
    )
    return page_of(page, [service_account_object(each) for each in page.items])


@router.post("/projects/{uuid:project_id}/service_accounts", response=Shown)
async def create_project_service_account(
    request: AuthenticatedRequest, project_id: UUID, body: ServiceAccountBody
) -> Shown:
    """A service account with a key; `api_key.value` is in this answer and nowhere else."""
    account, key, secret = await in_database(
        service_account_create, principal=request.auth, project_id=project_id, name=body.name
    )
    return new_service_account_object(account, key, secret)


@router.get(
    "/projects/{uuid:project_id}/service_accounts/{uuid:service_account_id}", response=Shown
)
async def retrieve_project_service_account(
    request: AuthenticatedRequest, project_id: UUID, service_account_id: UUID
) -> Shown:
    """One service account."""
    return service_account_object(
        await in_database(
            service_account_get,
            principal=request.auth,
            project_id=project_id,
            service_account_id=service_account_id,
        )
    )


@router.delete(
    "/projects/{uuid:project_id}/service_accounts/{uuid:service_account_id}", response=Shown
)
async def delete_project_service_account(
    request: AuthenticatedRequest, project_id: UUID, service_account_id: UUID
) -> Shown:
    """It and its keys end."""
    await in_database(
        service_account_delete,
        principal=request.auth,
        project_id=project_id,
        service_account_id=service_account_id,
    )
    return deleted("project.service_account", service_account_id)


@router.get("/projects/{uuid:project_id}/api_keys", response=ListOut)
async def list_organization_project_keys(
    request: AuthenticatedRequest,
    project_id: UUID,
    after: After | None = None,
    limit: Limit = 20,
) -> ListOut:
    """Its keys, without their secrets."""
    page = await in_database(
        project_keys_page, principal=request.auth, project_id=project_id, after=after, limit=limit
    )
    return page_of(page, [project_key_object(each) for each in page.items])


@router.get("/projects/{uuid:project_id}/api_keys/{uuid:key_id}", response=Shown)
async def retrieve_project_key(
    request: AuthenticatedRequest, project_id: UUID, key_id: UUID
) -> Shown:
    """One key."""
    return project_key_object(
        await in_database(
            project_key_get, principal=request.auth, project_id=project_id, key_id=key_id
        )
    )


@router.delete("/projects/{uuid:project_id}/api_keys/{uuid:key_id}", response=Shown)
async def delete_project_key(
    request: AuthenticatedRequest, project_id: UUID, key_id: UUID
) -> Shown:
    """It stops at once."""
    key = await in_database(
        project_key_get, principal=request.auth, project_id=project_id, key_id=key_id
    )
    await in_database(api_key_end, key=key, actor=request.auth)
    return deleted("project.api_key", key_id)


@router.get("/projects/{uuid:project_id}/rate_limits", response=ListOut)
async def list_project_rate_limits(
    request: AuthenticatedRequest,
    project_id: UUID,
    after: After | None = None,
    limit: Limit = 100,
) -> ListOut:
    """One for each model: the project's own, else what the plan allows."""
    shown = await _limits(request, project_id)
    names = list(shown)
    start = 0 if after is None else _place_of(names, after)
    part = names[start : start + limit]
    return list_of([shown[name] for name in part], has_more=start + limit < len(names))


@router.post("/projects/{uuid:project_id}/rate_limits/{path:rate_limit_id}", response=Shown)
async def modify_project_rate_limit(
    request: AuthenticatedRequest, project_id: UUID, rate_limit_id: str, body: RateLimitUpdate
) -> Shown:
    """Set the project's own limit of a model; the plan's binds it as well."""
    shown = await _limits(request, project_id)
    if rate_limit_id not in shown:
        raise NotFound(f"There is no rate limit {rate_limit_id[:100]!r}.")
    current = shown[rate_limit_id]
    limit = await in_database(
        project_limit_set,
        principal=request.auth,
        project_id=project_id,
        model=current["model"],
        requests_per_minute=body.max_requests_per_1_minute or current["max_requests_per_1_minute"],
        tokens_per_minute=body.max_tokens_per_1_minute or current["max_tokens_per_1_minute"],
    )
    return rate_limit_object(limit.model, limit.requests_per_minute, limit.tokens_per_minute)


async def _user(request: AuthenticatedRequest, project_id: UUID, user_id: UUID) -> Shown:
    return project_user_object(
        await in_database(
            project_member_get, principal=request.auth, project_id=project_id, user_id=user_id
        )
    )


async def _limits(request: AuthenticatedRequest, project_id: UUID) -> dict[str, Shown]:
    """By their ids, in order."""
    own = await in_database(project_limits_list, principal=request.auth, project_id=project_id)
    plan = request.auth.plan
    shown = {
        pool.id: rate_limit_object(pool.id, plan.requests_per_minute, plan.tokens_per_minute)
        for pool in load_pools().models
    }
    for limit in own:
        shown[limit.model] = rate_limit_object(
            limit.model, limit.requests_per_minute, limit.tokens_per_minute
        )
    return {limit["id"]: limit for _, limit in sorted(shown.items())}


def _place_of(names: list[str], after: str) -> int:
    return names.index(after) + 1 if after in names else len(names)
