"""Which models an organization may use, by rows of the admin (`ModelAccess`).

A rule names a model, or with `@` before it a region: `@eu` all models that stand there, `@*` those
of every region that has no rule of its own, and models that name none.
"""

import time
from collections.abc import Iterable
from functools import partial
from uuid import UUID

from backend.accounts.models import ModelAccess
from backend.platform.database import in_database
from backend.platform.shared_load import SharedLoads

CACHE_S = 5.0
EVERY_REGION = "@*"

Rules = dict[tuple[str, UUID | str | None], bool]
"""By model or region, and organization, plan or None."""

_known: tuple[float, Rules] | None = None
_loads: SharedLoads[None, Rules] = SharedLoads()


async def model_rules_current() -> Rules:
    """`model_rules` for the event loop: read once for all who want them at the same time."""
    rules = model_rules_known()
    if rules is None:
        rules = await _loads.get(None, partial(in_database, model_rules))
    return rules


def model_rules() -> Rules:
    """Every rule, at most CACHE_S old in this process. Queries: run it in a thread unless
    `model_rules_known` has them."""
    global _known
    rules = model_rules_known()
    if rules is None:
        rules = {
            (row.model, row.organization_id or row.plan_id): row.is_allowed
            for row in ModelAccess.objects.all()
        }
        _known = (time.monotonic(), rules)
    return rules


def model_rules_known() -> Rules | None:
    """The rules where no query is needed."""
    if _known is None or time.monotonic() - _known[0] > CACHE_S:
        return None
    return _known[1]


def model_rules_clear() -> None:
    """Forget what this process knows (the admin shows its change at once)."""
    global _known
    _loads.forget(None)
    _known = None


def model_is_allowed(
    rules: Rules, model: str, *, region: str, organization_id: UUID, plan: str
) -> bool:
    """The rule of the organization, else of its plan, else of everyone; without any, yes. Who may
    not use a model may not use it with an adapter either, nor one of a region that is not theirs.

    Args:
        region: where the model stands; "" where it does not say.
    """
    if not rules:
        return True
    scopes: Iterable[UUID | str | None] = (organization_id, plan, None)
    base = model.partition(":")[0]
    names = ((model,), (base,), (f"@{region}", EVERY_REGION))
    return all(
        next(
            (rules[one, scope] for scope in scopes for one in any_of if (one, scope) in rules), True
        )
        for any_of in names
    )
