"""Which models an organization may use, by rows of the admin (`ModelAccess`)."""

import time
from collections.abc import Iterable
from uuid import UUID

from backend.accounts.models import ModelAccess

CACHE_S = 5.0

Rules = dict[tuple[str, UUID | str | None], bool]
"""By model, and organization, plan or None."""

_known: tuple[float, Rules] | None = None


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
    _known = None


def model_is_allowed(rules: Rules, model: str, *, organization_id: UUID, plan: str) -> bool:
    """The rule of the organization, else of its plan, else of everyone; without any, yes. Who may
    not use a model may not use it with an adapter either."""
    scopes: Iterable[UUID | str | None] = (organization_id, plan, None)
    base = model.partition(":")[0]
    return all(
        next((rules[name, scope] for scope in scopes if (name, scope) in rules), True)
        for name in {model, base}
    )
