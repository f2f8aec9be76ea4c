"""Writes to budgets."""

from decimal import Decimal
from uuid import UUID

from django.db import transaction

from backend.accounts.models import APIKey, Project
from backend.accounts.principal import Principal
from backend.audit.actions import Action
from backend.audit.services import record
from backend.platform.errors import InvalidRequest, NotFound
from billing.budgets.limits import clear_limits_cache
from billing.models import Budget
from billing.permissions import require_money_writer


@transaction.atomic
def budget_set(
    *,
    principal: Principal,
    amount: Decimal,
    is_hard: bool,
    project_id: UUID | None = None,
    key_id: UUID | None = None,
) -> Budget:
    """Set the soft or the hard monthly budget of the organization, a project or a key.

    Raises:
        PermissionDenied, InvalidRequest, NotFound: the project or key is not the caller's.
    """
    require_money_writer(principal)
    if amount < 0 or not amount.is_finite():
        raise InvalidRequest("A budget must be zero or more.", param="amount")
    if project_id is not None and key_id is not None:
        raise InvalidRequest(
            "A budget is for a project or for a key, not for both.", param="key_id"
        )
    organization_id = principal.organization_id
    project = key = None
    if project_id is not None:
        project = Project.objects.filter(pk=project_id, organization_id=organization_id).first()
        if project is None:
            raise NotFound("No such project.", param="project_id")
    if key_id is not None:
        key = APIKey.objects.filter(pk=key_id, organization_id=organization_id).first()
        if key is None:
            raise NotFound("No such API key.", param="key_id")
    budget, _ = Budget.objects.update_or_create(
        organization_id=organization_id,
        project=project,
        key=key,
        is_hard=is_hard,
        defaults={"amount": amount},
    )
    record(
        Action.BUDGET_SET,
        organization_id=organization_id,
        actor=principal,
        target=("budget", budget.pk),
        project_id=project_id,
        details={"amount": str(amount), "is_hard": is_hard},
    )
    transaction.on_commit(lambda: clear_limits_cache(organization_id))
    return budget


@transaction.atomic
def budget_delete(*, principal: Principal, budget_id: int) -> None:
    """Raises: PermissionDenied, NotFound."""
    require_money_writer(principal)
    deleted, _ = Budget.objects.filter(
        pk=budget_id, organization_id=principal.organization_id
    ).delete()
    if not deleted:
        raise NotFound("No such budget.")
    record(
        Action.BUDGET_DELETED,
        organization_id=principal.organization_id,
        actor=principal,
        target=("budget", budget_id),
    )
    transaction.on_commit(lambda: clear_limits_cache(principal.organization_id))
