"""Writes to projects: what they are called, may use and keep, and their limits.

A project's budget is billing's (`billing/budgets`), its keys are made by services.py.
"""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from backend.accounts.data_policy import data_rules_clear
from backend.accounts.models import APIKey, Project
from backend.accounts.principal import Principal
from backend.accounts.project_access import project_managed
from backend.accounts.roles import require_manager
from backend.accounts.services import clean_text, keys_refuse
from backend.accounts.team_models import ProjectRateLimit
from backend.audit.actions import Action
from backend.audit.services import Detail, record
from backend.platform.errors import Conflict, InvalidRequest, NotFound

MAX_PROJECTS = 1000
MAX_MODELS = 100
MAX_RATE = 2_000_000_000
MAX_RETENTION_DAYS = 3650
MAX_INSTRUCTIONS = 20_000


@transaction.atomic
def project_create(*, principal: Principal, name: str) -> Project:
    """Raises PermissionDenied for others than owners and admins, InvalidRequest, Conflict."""
    require_manager(principal)
    name = clean_text(name, param="name", required=True)
    if Project.objects.filter(organization_id=principal.organization_id).count() >= MAX_PROJECTS:
        raise Conflict(f"An organization has at most {MAX_PROJECTS} projects.")
    project = Project.objects.create(organization_id=principal.organization_id, name=name)
    _record(Action.PROJECT_CREATED, principal, project)
    return project


@transaction.atomic
def project_update(
    *,
    principal: Principal,
    project_id: UUID,
    name: str | None = None,
    allowed_models: list[str] | None = None,
    retention_days: int | None = None,
    keeps_for_ever: bool = False,
    logs_requests: bool | None = None,
    instructions: str | None = None,
) -> Project:
    """Change what is given; None leaves a field as it is. What keys may do follows in seconds.

    Args:
        allowed_models: ids of models; an empty list allows all.
        keeps_for_ever: take the project's retention away.
        logs_requests: False: nothing of its keys is logged.
        instructions: what the model reads in each of its chats; the default project has none,
            since every chat is in it that nobody has put elsewhere.
    Raises:
        NotFound, PermissionDenied, Conflict: see `project_managed`. InvalidRequest: with `param`.
    """
    project = project_managed(principal, project_id)
    if name is not None:
        project.name = clean_text(name, param="name", required=True)
    if allowed_models is not None:
        project.allowed_models = _clean_models(allowed_models)
    if retention_days is not None and not 0 <= retention_days <= MAX_RETENTION_DAYS:
        raise InvalidRequest(
            f"retention_days is 0 to {MAX_RETENTION_DAYS}.", param="retention_days"
        )
    if keeps_for_ever or retention_days is not None:
        project.retention_days = None if keeps_for_ever else retention_days
    if logs_requests is not None:
        project.logs_requests = logs_requests
    if instructions is not None:
        project.instructions = _clean_instructions(project, instructions)
    project.save()
    data_rules_clear()
    _record(
        Action.PROJECT_UPDATED,
        principal,
        project,
        allowed_models=project.allowed_models,
        retention_days=project.retention_days,
        logs_requests=project.logs_requests,
        instructions_changed=instructions is not None,
    )
    return project


@transaction.atomic
def project_archive(*, principal: Principal, project_id: UUID) -> Project:
    """For good: its keys stop working at once, its usage stays. The default project stays open.

    Raises:
        PermissionDenied: the caller manages no organization. NotFound.
        Conflict: it is the default project, or archived already.
    """
    require_manager(principal)
    project = project_managed(principal, project_id)
    if project.is_default:
        raise Conflict("The default project cannot be archived: the chat page uses it.")
    project.archived_at = timezone.now()
    project.save(update_fields=["archived_at"])
    keys = APIKey.objects.filter(project=project, revoked_at=None)
    keys_refuse(list(keys.values_list("sha256", flat=True)))
    _record(Action.PROJECT_ARCHIVED, principal, project)
    return project


@transaction.atomic
def project_limit_set(
    *,
    principal: Principal,
    project_id: UUID,
    model: str,
    requests_per_minute: int,
    tokens_per_minute: int,
) -> ProjectRateLimit:
    """What the project may ask of a model a minute; the plan's limits bind it as well.

    Raises:
        InvalidRequest: with `param`; and as `project_update`.
    """
    project = project_managed(principal, project_id)
    for value, name in (
        (requests_per_minute, "requests_per_minute"),
        (tokens_per_minute, "tokens_per_minute"),
    ):
        if not 1 <= value <= MAX_RATE:
            raise InvalidRequest(f"{name} is 1 to {MAX_RATE}.", param=name)
    (model,) = _clean_models([model], param="model")
    limits = project.rate_limits.exclude(model=model)
    if limits.count() >= MAX_MODELS:
        raise Conflict(f"A project has limits for at most {MAX_MODELS} models.")
    limit, _ = ProjectRateLimit.objects.update_or_create(
        project=project,
        model=model,
        defaults={
            "requests_per_minute": requests_per_minute,
            "tokens_per_minute": tokens_per_minute,
        },
    )
    _record(
        Action.RATE_LIMIT_UPDATED,
        principal,
        project,
        model=model,
        requests=requests_per_minute,
        per_minute=tokens_per_minute,
    )
    return limit


@transaction.atomic
def project_limit_delete(*, principal: Principal, project_id: UUID, model: str) -> None:
    """The plan's limits alone bind it again. Raises as `project_update`."""
    project = project_managed(principal, project_id)
    (model,) = _clean_models([model], param="model")
    deleted, _ = project.rate_limits.filter(model=model).delete()
    if not deleted:
        raise NotFound(f"The project has no limit of its own for {model[:100]!r}.")
    _record(Action.RATE_LIMIT_DELETED, principal, project, model=model)


def _record(action: Action, principal: Principal, project: Project, **details: Detail) -> None:
    record(
        action,
        organization_id=project.organization_id,
        actor=principal,
        target=("project", project.pk),
        project_id=project.pk,
        details=details,
    )


def _clean_instructions(project: Project, text: str) -> str:
    """Raises InvalidRequest."""
    text = text.strip()
    if project.is_default and text:
        raise InvalidRequest("The default project has no instructions.", param="instructions")
    if len(text) > MAX_INSTRUCTIONS or "\x00" in text:
        raise InvalidRequest(
            f"instructions must have at most {MAX_INSTRUCTIONS:,} characters, none of them null.",
            param="instructions",
        )
    return text


def _clean_models(models: list[str], *, param: str = "allowed_models") -> list[str]:
    cleaned = sorted({model.strip() for model in models})
    if len(cleaned) > MAX_MODELS:
        raise InvalidRequest(f"At most {MAX_MODELS} models.", param="allowed_models")
    for model in cleaned:
        if not model or len(model) > 100 or "\x00" in model:
            raise InvalidRequest(f"{model[:100]!r} names no model.", param=param)
    return cleaned
