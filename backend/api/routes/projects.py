"""`/api/projects`: projects of the organization, who and what is in them, and their limits.

Budgets of a project are set at `/api/budgets`, its keys are made at `/api/keys`.
"""

from uuid import UUID

from ninja import Router, Status

from backend.accounts.principal import AuthenticatedRequest
from backend.accounts.project_access import manages_project, project_get
from backend.accounts.project_members import (
    project_member_add,
    project_member_remove,
    project_member_role_set,
)
from backend.accounts.project_selectors import (
    project_keys_page,
    project_limits_list,
    project_member_get,
    project_members_page,
    projects_opened,
    projects_page,
    service_accounts_page,
)
from backend.accounts.projects import (
    project_archive,
    project_create,
    project_limit_delete,
    project_limit_set,
    project_update,
)
from backend.accounts.service_accounts import service_account_create, service_account_delete
from backend.api.kept_text_check import instructions_check
from backend.api.routes.organization import After, Limit
from backend.api.schemas.projects import (
    NewServiceAccountOut,
    ProjectCreate,
    ProjectKeyPageOut,
    ProjectLimitListOut,
    ProjectLimitOut,
    ProjectLimitSet,
    ProjectMemberAdd,
    ProjectMemberOut,
    ProjectMemberPageOut,
    ProjectMemberUpdate,
    ProjectOut,
    ProjectPageOut,
    ProjectUpdate,
    ProjectViewOut,
    ServiceAccountCreate,
    ServiceAccountOut,
    ServiceAccountPageOut,
)
from backend.api.schemas.resources import KeyOut
from backend.platform.database import in_database

router = Router(tags=["projects"])


@router.get("", response=ProjectPageOut)
async def list_projects(
    request: AuthenticatedRequest,
    archived: bool = False,
    cursor: After | None = None,
    limit: Limit = 50,
) -> ProjectPageOut:
    """Those that the caller sees, the oldest first. `archived`: the archived ones too."""
    page = await in_database(
        projects_page, principal=request.auth, archived=archived, after=cursor, limit=limit
    )
    ids = [project.pk for project in page.items]
    opened = await in_database(projects_opened, principal=request.auth, project_ids=ids)
    return ProjectPageOut(
        data=[ProjectOut.of(each, is_open=each.pk in opened) for each in page.items],
        next_cursor=page.next_cursor,
    )


@router.post("", response={201: ProjectOut})
async def create_project(request: AuthenticatedRequest, body: ProjectCreate) -> Status:
    """A new project, as owner or admin."""
    project = await in_database(project_create, principal=request.auth, name=body.name)
    return Status(201, ProjectOut.model_validate(project))


@router.get("/{uuid:project_id}", response=ProjectViewOut)
async def get_project(request: AuthenticatedRequest, project_id: UUID) -> ProjectViewOut:
    """One project."""
    project = await in_database(project_get, request.auth, project_id)
    manages = await in_database(manages_project, request.auth, project_id)
    is_open = bool(
        await in_database(projects_opened, principal=request.auth, project_ids=[project_id])
    )
    shown = ProjectOut.of(project, is_open=is_open).model_dump()
    manages = manages and project.archived_at is None
    return ProjectViewOut(**shown, is_open=is_open, manages=manages)


@router.patch("/{uuid:project_id}", response=ProjectOut)
async def update_project(
    request: AuthenticatedRequest, project_id: UUID, body: ProjectUpdate
) -> ProjectOut:
    """Its name, its instructions, the models that its keys may use, how long its chats stay. Keys
    follow within ten seconds."""
    await instructions_check(request, body.instructions)
    project = await in_database(
        project_update,
        principal=request.auth,
        project_id=project_id,
        name=body.name,
        allowed_models=body.allowed_models,
        retention_days=body.retention_days,
        keeps_for_ever="retention_days" in body.model_fields_set and body.retention_days is None,
        logs_requests=body.logs_requests,
        instructions=body.instructions,
    )
    return ProjectOut.model_validate(project)


@router.post("/{uuid:project_id}/archive", response=ProjectOut)
async def archive_project(request: AuthenticatedRequest, project_id: UUID) -> ProjectOut:
    """Close it for good: its keys stop at once, its usage stays."""
    project = await in_database(project_archive, principal=request.auth, project_id=project_id)
    return ProjectOut.model_validate(project)


@router.get("/{uuid:project_id}/members", response=ProjectMemberPageOut)
async def list_project_members(
    request: AuthenticatedRequest,
    project_id: UUID,
    cursor: After | None = None,
    limit: Limit = 50,
) -> ProjectMemberPageOut:
    """Its members; owners and admins of the organization manage it without being one."""
    page = await in_database(
        project_members_page,
        principal=request.auth,
        project_id=project_id,
        after=cursor,
        limit=limit,
    )
    return ProjectMemberPageOut(
        data=[ProjectMemberOut.of(each) for each in page.items], next_cursor=page.next_cursor
    )


@router.post("/{uuid:project_id}/members", response={201: ProjectMemberOut})
async def add_project_member(
    request: AuthenticatedRequest, project_id: UUID, body: ProjectMemberAdd
) -> Status:
    """Add a member of the organization."""
    await in_database(
        project_member_add,
        principal=request.auth,
        project_id=project_id,
        user_id=body.user_id,
        role=body.role,
    )
    return Status(201, await _member(request, project_id, body.user_id))


@router.patch("/{uuid:project_id}/members/{uuid:user_id}", response=ProjectMemberOut)
async def update_project_member(
    request: AuthenticatedRequest, project_id: UUID, user_id: UUID, body: ProjectMemberUpdate
) -> ProjectMemberOut:
    """Owners manage the project, members use it."""
    await in_database(
        project_member_role_set,
        principal=request.auth,
        project_id=project_id,
        user_id=user_id,
        role=body.role,
    )
    return await _member(request, project_id, user_id)


@router.delete("/{uuid:project_id}/members/{uuid:user_id}", response={204: None})
async def remove_project_member(
    request: AuthenticatedRequest, project_id: UUID, user_id: UUID
) -> Status:
    """Their keys in the project stop with it."""
    await in_database(
        project_member_remove, principal=request.auth, project_id=project_id, user_id=user_id
    )
    return Status(204, None)


@router.get("/{uuid:project_id}/service-accounts", response=ServiceAccountPageOut)
async def list_service_accounts(
    request: AuthenticatedRequest,
    project_id: UUID,
    cursor: After | None = None,
    limit: Limit = 50,
) -> ServiceAccountPageOut:
    """Programs' accounts, whose keys outlive who made them."""
    page = await in_database(
        service_accounts_page,
        principal=request.auth,
        project_id=project_id,
        after=cursor,
        limit=limit,
    )
    return ServiceAccountPageOut(
        data=[ServiceAccountOut.model_validate(each) for each in page.items],
        next_cursor=page.next_cursor,
    )


@router.post("/{uuid:project_id}/service-accounts", response={201: NewServiceAccountOut})
async def create_service_account(
    request: AuthenticatedRequest, project_id: UUID, body: ServiceAccountCreate
) -> Status:
    """A service account with its first key, whose secret is in this answer and nowhere else."""
    account, _, secret = await in_database(
        service_account_create, principal=request.auth, project_id=project_id, name=body.name
    )
    shown = ServiceAccountOut.model_validate(account).model_dump()
    return Status(201, NewServiceAccountOut(**shown, secret=secret))


@router.delete(
    "/{uuid:project_id}/service-accounts/{uuid:service_account_id}", response={204: None}
)
async def delete_service_account(
    request: AuthenticatedRequest, project_id: UUID, service_account_id: UUID
) -> Status:
    """It and its keys end."""
    await in_database(
        service_account_delete,
        principal=request.auth,
        project_id=project_id,
        service_account_id=service_account_id,
    )
    return Status(204, None)


@router.get("/{uuid:project_id}/rate-limits", response=ProjectLimitListOut)
async def list_project_limits(
    request: AuthenticatedRequest, project_id: UUID
) -> ProjectLimitListOut:
    """The project's own limits, by model; the plan's bind it as well."""
    limits = await in_database(project_limits_list, principal=request.auth, project_id=project_id)
    return ProjectLimitListOut(data=[ProjectLimitOut.model_validate(each) for each in limits])


@router.put("/{uuid:project_id}/rate-limits/{path:model_id}", response=ProjectLimitOut)
async def set_project_limit(
    request: AuthenticatedRequest, project_id: UUID, model_id: str, body: ProjectLimitSet
) -> ProjectLimitOut:
    """What the project may ask of a model a minute."""
    limit = await in_database(
        project_limit_set,
        principal=request.auth,
        project_id=project_id,
        model=model_id,
        requests_per_minute=body.requests_per_minute,
        tokens_per_minute=body.tokens_per_minute,
    )
    return ProjectLimitOut.model_validate(limit)


@router.delete("/{uuid:project_id}/rate-limits/{path:model_id}", response={204: None})
async def delete_project_limit(
    request: AuthenticatedRequest, project_id: UUID, model_id: str
) -> Status:
    """The plan's limits alone bind it again."""
    await in_database(
        project_limit_delete, principal=request.auth, project_id=project_id, model=model_id
    )
    return Status(204, None)


@router.get("/{uuid:project_id}/keys", response=ProjectKeyPageOut)
async def list_project_keys(
    request: AuthenticatedRequest,
    project_id: UUID,
    cursor: After | None = None,
    limit: Limit = 50,
) -> ProjectKeyPageOut:
    """Its keys: all for who manages the project, their own for others."""
    page = await in_database(
        project_keys_page, principal=request.auth, project_id=project_id, after=cursor, limit=limit
    )
    return ProjectKeyPageOut(
        data=[KeyOut.of(each) for each in page.items], next_cursor=page.next_cursor
    )


async def _member(
    request: AuthenticatedRequest, project_id: UUID, user_id: UUID
) -> ProjectMemberOut:
    place = await in_database(
        project_member_get, principal=request.auth, project_id=project_id, user_id=user_id
    )
    return ProjectMemberOut.of(place)
