"""Reads of projects and of what is in them, in pages."""

from collections.abc import Collection
from uuid import UUID

from django.db.models import QuerySet

from backend.accounts.models import APIKey, Project
from backend.accounts.paging import Page, page_after
from backend.accounts.principal import Principal
from backend.accounts.project_access import (
    manages_project,
    project_get,
    projects_of,
    projects_open_to,
)
from backend.accounts.scopes import Scope
from backend.accounts.team_models import ProjectMember, ProjectRateLimit, ServiceAccount
from backend.platform.errors import NotFound


def projects_page(
    *, principal: Principal, archived: bool, after: str | None, limit: int
) -> Page[Project]:
    """Those that the caller sees, the oldest first; archived ones only where asked for."""
    projects = projects_of(principal)
    if not archived:
        projects = projects.filter(archived_at=None)
    return page_after(projects, after=after, limit=limit)


def projects_opened(*, principal: Principal, project_ids: Collection[UUID]) -> set[UUID]:
    """Return those projects whose instructions and files the caller reads."""
    projects = projects_open_to(principal).filter(pk__in=project_ids)
    return set(projects.values_list("pk", flat=True))


def project_members_page(
    *, principal: Principal, project_id: UUID, after: str | None, limit: int
) -> Page[ProjectMember]:
    """Raises NotFound."""
    project = project_get(principal, project_id)
    rows = project.members.select_related("membership__user")
    return page_after(rows, after=after, limit=limit, key="membership__user_id")


def project_member_get(*, principal: Principal, project_id: UUID, user_id: UUID) -> ProjectMember:
    project = project_get(principal, project_id)
    rows = project.members.select_related("membership__user")
    found = rows.filter(membership__user_id=user_id).first()
    if found is None:
        raise NotFound(f"There is no member {user_id} in this project.")
    return found


def service_accounts_page(
    *, principal: Principal, project_id: UUID, after: str | None, limit: int
) -> Page[ServiceAccount]:
    project = project_get(principal, project_id)
    return page_after(project.service_accounts.all(), after=after, limit=limit)


def service_account_get(
    *, principal: Principal, project_id: UUID, service_account_id: UUID
) -> ServiceAccount:
    project = project_get(principal, project_id)
    found = project.service_accounts.filter(pk=service_account_id).first()
    if found is None:
        raise NotFound(f"There is no service account {service_account_id}.")
    return found


def project_limits_list(*, principal: Principal, project_id: UUID) -> list[ProjectRateLimit]:
    """At most projects.MAX_MODELS, by model."""
    project = project_get(principal, project_id)
    return list(project.rate_limits.order_by("model"))


def project_keys_page(
    *, principal: Principal, project_id: UUID, after: str | None, limit: int
) -> Page[APIKey]:
    """Keys that are not revoked: all for who manages the project, their own for others."""
    return page_after(_project_keys(principal, project_id), after=after, limit=limit)


def project_key_get(*, principal: Principal, project_id: UUID, key_id: UUID) -> APIKey:
    found = _project_keys(principal, project_id).filter(pk=key_id).first()
    if found is None:
        raise NotFound(f"There is no API key {key_id}.")
    return found


def _project_keys(principal: Principal, project_id: UUID) -> QuerySet[APIKey]:
    project = project_get(principal, project_id)
    keys = APIKey.objects.filter(project=project, revoked_at=None, is_internal=False)
    keys = keys.exclude(scopes__contains=[Scope.ADMINISTRATION.value])
    if not manages_project(principal, project_id):
        keys = keys.filter(created_by_id=principal.user_id)
    return keys.select_related("created_by__service_account", "project")


def admin_keys_page(*, principal: Principal, after: str | None, limit: int) -> Page[APIKey]:
    """Keys that administer the organization; the caller's router has asked for that scope."""
    return page_after(_admin_keys(principal), after=after, limit=limit)


def admin_key_get(*, principal: Principal, key_id: UUID) -> APIKey:
    found = _admin_keys(principal).filter(pk=key_id).first()
    if found is None:
        raise NotFound(f"There is no admin API key {key_id}.")
    return found


def _admin_keys(principal: Principal) -> QuerySet[APIKey]:
    return APIKey.objects.filter(
        organization_id=principal.organization_id,
        revoked_at=None,
        scopes__contains=[Scope.ADMINISTRATION.value],
    ).select_related("created_by")
