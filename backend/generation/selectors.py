"""Reads of generations, scoped by the caller."""

from uuid import UUID

from backend.accounts.principal import Principal
from backend.generation.models import Generation
from backend.platform.errors import NotFound


def generation_get(*, generation_id: UUID, principal: Principal) -> Generation:
    """The caller's generation: of the same organization, and of the same user in it.

    Raises:
        NotFound: there is none, or it is another user's.
    """
    row = Generation.objects.filter(
        pk=generation_id,
        organization_id=principal.organization_id,
        user_id=principal.user_id,
    ).first()
    if row is None:
        raise NotFound(f"There is no generation {generation_id}.")
    return row
