"""Who is in a project. Owners and admins of the organization manage every project without it."""

from uuid import UUID

from django.db import transaction

from backend.accounts.members import people_of
from backend.accounts.models import APIKey, Membership, Project
from backend.accounts.principal import Principal
from backend.accounts.project_access import project_managed
from backend.accounts.services import api_key_end
from backend.accounts.team_models import ProjectMember, ProjectRole
from backend.audit.actions import Action
from backend.audit.services import Caller, record
from backend.platform.errors import Conflict, InvalidRequest, NotFound


@transaction.atomic
def project_member_add(
    *, principal: Principal, project_id: UUID, user_id: UUID, role: str
) -> ProjectMember:
    """A member of the organization becomes one of the project.

    Raises:
        NotFound: no such project or member. PermissionDenied: the caller does not manage it.
        InvalidRequest: no such role. Conflict: they are in it, or it is archived.
    """
    project = project_managed(principal, project_id)
    membership = people_of(principal.organization_id).filter(user_id=user_id).first()
    if membership is None:
        raise NotFound(f"There is no member {user_id}.", param="user_id")
    if project.members.filter(membership=membership).exists():
        raise Conflict("They are a member of this project already.")
    return project_place_give(
        project=project, membership=membership, role=_clean_role(role), actor=principal
    )


@transaction.atomic
def project_place_give(
    *, project: Project, membership: Membership, role: str, actor: Caller
) -> ProjectMember:
    """Make a member one of the project, whoever decided it; who calls knows that they may, and that
    the member is not in it."""
    place = ProjectMember.objects.create(project=project, membership=membership, role=role)
    _record(Action.PROJECT_USER_ADDED, actor, project, membership.user_id, role=role)
    return place


@transaction.atomic
def project_member_role_set(
    *, principal: Principal, project_id: UUID, user_id: UUID, role: str
) -> ProjectMember:
    """Raises as `project_member_add`."""
    place = _place(principal, project_id, user_id)
    return project_place_set(place=place, role=_clean_role(role), actor=principal)


@transaction.atomic
def project_place_set(*, place: ProjectMember, role: str, actor: Caller) -> ProjectMember:
    """Another role in the project, whoever decided it."""
    place.role = role
    place.save(update_fields=["role"])
    _record(Action.PROJECT_USER_UPDATED, actor, place.project, place.membership.user_id, role=role)
    return place


@transaction.atomic
def project_member_remove(*, principal: Principal, project_id: UUID, user_id: UUID) -> None:
    """Their keys in the project end with it; in the default project everybody keeps theirs.

    Raises as `project_member_add`."""
    project_place_end(place=_place(principal, project_id, user_id), actor=principal)


@transaction.atomic
def project_place_end(*, place: ProjectMember, actor: Caller) -> None:
    """The same, whoever decided it."""
    project, user_id = place.project, place.membership.user_id
    place.delete()
    _record(Action.PROJECT_USER_REMOVED, actor, project, user_id)
    if not project.is_default:
        for key in APIKey.objects.filter(project=project, created_by_id=user_id, revoked_at=None):
            api_key_end(key=key, actor=actor)


def _place(principal: Principal, project_id: UUID, user_id: UUID) -> ProjectMember:
    project = project_managed(principal, project_id)
    place = (
        project.members.filter(membership__user_id=user_id)
        .select_related("membership__user", "project")
        .first()
    )
    if place is None:
        raise NotFound(f"There is no member {user_id} in this project.")
    return place


def _record(action: Action, actor: Caller, project: Project, user_id: UUID, **details: str) -> None:
    record(
        action,
        organization_id=project.organization_id,
        actor=actor,
        target=("user", user_id),
        project_id=project.pk,
        details=details,
    )


def _clean_role(role: str) -> str:
    if role not in ProjectRole.values:
        known = ", ".join(ProjectRole.values)
        raise InvalidRequest(f"Unknown role {role!r}; there are {known}.", param="role")
    return role
