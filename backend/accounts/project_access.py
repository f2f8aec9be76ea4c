"""Which projects a caller sees, uses and manages.

Owners and admins of the organization see and manage all of its projects. Others see the default
project and those that they are a member of, use these, and manage those that they own. Viewers see
every project, who is in it and what it uses; its instructions and files as other members do.
"""

from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from backend.accounts.models import Membership, Project, Role
from backend.accounts.principal import Principal
from backend.accounts.roles import MANAGERS
from backend.accounts.team_models import ProjectMember, ProjectRole
from backend.platform.errors import Conflict, NotFound, PermissionDenied


def projects_of(principal: Principal) -> QuerySet[Project]:
    """Those that the caller sees, archived ones among them."""
    if principal.role == Role.VIEWER:
        return Project.objects.filter(organization_id=principal.organization_id)
    return projects_open_to(principal)


def projects_open_to(principal: Principal) -> QuerySet[Project]:
    """Return those whose instructions and files the caller reads and may begin something in."""
    projects = Project.objects.filter(organization_id=principal.organization_id)
    if principal.manages_organization:
        return projects
    own = ProjectMember.objects.filter(
        membership__user_id=principal.user_id,
        membership__organization_id=principal.organization_id,
    )
    return projects.filter(Q(is_default=True) | Q(pk__in=own.values("project_id")))


def project_used_by(*, organization_id: UUID, user_id: UUID, project_id: UUID) -> Project | None:
    """The project, where it is open and the person may use it now; for work in their name."""
    members = ProjectMember.objects.filter(
        membership__user_id=user_id,
        membership__organization_id=organization_id,
        project=OuterRef("pk"),
    )
    managers = Membership.objects.filter(
        user_id=user_id, organization_id=organization_id, role__in=MANAGERS
    )
    return (
        Project.objects.filter(pk=project_id, organization_id=organization_id, archived_at=None)
        .filter(Q(is_default=True) | Exists(members) | Exists(managers))
        .first()
    )


def project_get(principal: Principal, project_id: UUID) -> Project:
    """Raises NotFound."""
    project = projects_of(principal).filter(pk=project_id).first()
    if project is None:
        raise NotFound(f"There is no project {project_id}.", param="project_id")
    return project


def project_opened(principal: Principal, project_id: UUID) -> Project:
    """One whose contents the caller reads. Raises NotFound."""
    project = projects_open_to(principal).filter(pk=project_id).first()
    if project is None:
        raise NotFound(f"There is no project {project_id}.", param="project_id")
    return project


def project_usable(principal: Principal, project_id: UUID) -> Project:
    """One for something new of the caller's; a key has its own only. Raises NotFound; Conflict: it
    is archived."""
    project = project_opened(principal, project_id)
    if principal.is_api_key and project_id != principal.project_id:
        raise NotFound(f"This key is of another project than {project_id}.", param="project_id")
    if project.archived_at is not None:
        raise Conflict(
            f"The project {project.name} is archived; choose another one.",
            param="project_id",
            code="archived",
        )
    return project


def project_managed(principal: Principal, project_id: UUID) -> Project:
    """One to be changed by the caller, locked.

    Raises:
        NotFound: the caller does not see it. PermissionDenied: they see it only.
        Conflict: it is archived.
    """
    project = project_get(principal, project_id)
    if not manages_project(principal, project_id):
        raise PermissionDenied("Only owners of the project may do this, and who manages all.")
    locked = Project.objects.select_for_update().get(pk=project.pk)
    if locked.archived_at is not None:
        raise Conflict("The project is archived; nothing in it changes any more.", code="archived")
    return locked


def manages_project(principal: Principal, project_id: UUID) -> bool:
    if principal.manages_organization:
        return True
    return ProjectMember.objects.filter(
        project_id=project_id,
        membership__user_id=principal.user_id,
        membership__organization_id=principal.organization_id,
        role=ProjectRole.OWNER,
    ).exists()
