"""What a person does to their own account, in the audit log of each organization they belong to."""

from collections.abc import Mapping
from uuid import UUID

from django.db import transaction

from backend.accounts.models import Membership
from backend.audit.actions import Action
from backend.audit.services import Actor, Caller, Detail, record

_NIL = UUID(int=0)


@transaction.atomic
def account_event_record(
    action: Action,
    *,
    user_id: UUID | None,
    actor: Caller | None = None,
    details: Mapping[str, Detail] | None = None,
) -> None:
    """`action` of the account `user_id`, once for each of their organizations.

    Args:
        user_id: None is an address that no account has: the same work, seen by no organization.
        actor: who did it, where it was not the person.
    """
    memberships = Membership.objects.filter(user_id=user_id or _NIL)
    places: list[UUID | None] = list(memberships.values_list("organization_id", flat=True))
    for organization_id in places or [None]:
        record(
            action,
            organization_id=organization_id,
            actor=actor or Actor(user_id=user_id),
            target=("user", user_id) if user_id else None,
            details=details,
        )
