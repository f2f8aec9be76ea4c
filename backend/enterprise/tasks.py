"""Background work of `enterprise`."""

from uuid import UUID

from celery import shared_task
from django.db import transaction

from backend.enterprise.group_grants import groups_apply_to_all


@shared_task
def group_rules_apply(organization_id: str) -> int:
    """Give an organization's people what its changed table says. Returns how many it concerns."""
    return groups_apply_to_all(organization_id=UUID(organization_id))


def group_rules_changed(organization_id: UUID) -> None:
    """After the commit, in the background."""
    transaction.on_commit(
        lambda: group_rules_apply.apply_async((str(organization_id),), retry=False), robust=True
    )
