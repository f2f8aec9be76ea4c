"""Which limits bind a caller.

The plan's numbers are the organization's. One user and one key of it may use up all of them
unless the settings give them a share: `PARLEY_USER_LIMIT_SHARE`, `PARLEY_KEY_LIMIT_SHARE`.
"""

import os
from dataclasses import dataclass

from backend.accounts.principal import Principal

USER_SHARE = float(os.environ.get("PARLEY_USER_LIMIT_SHARE") or 1.0)
KEY_SHARE = float(os.environ.get("PARLEY_KEY_LIMIT_SHARE") or 1.0)


@dataclass(frozen=True, slots=True)
class LimitScope:
    """One holder of limits.

    Attributes:
        name: for Redis keys.
        label: for people: "organization", "user", "API key", "project".
    """

    name: str
    label: str
    requests_per_minute: int
    tokens_per_minute: int
    concurrent_generations: int


def scopes_of(
    principal: Principal,
    model: str = "",
    *,
    user_share: float = USER_SHARE,
    key_share: float = KEY_SHARE,
) -> list[LimitScope]:
    """The caller's scopes, the organization first; their project's last, where it has a limit of
    its own for `model`."""
    organization = f"{{{principal.organization_id}}}"
    scopes = [_scope(principal, organization, "organization", 1.0)]
    scopes.append(_scope(principal, f"{organization}:user:{principal.user_id}", "user", user_share))
    if principal.key_id is not None:
        name = f"{organization}:key:{principal.key_id}"
        scopes.append(_scope(principal, name, "API key", key_share))
    limit = principal.project.limit_of(model)
    if limit is not None:
        scopes.append(
            LimitScope(
                name=f"limit:{organization}:project:{principal.project_id}:{model}",
                label="project",
                requests_per_minute=max(1, limit.requests_per_minute),
                tokens_per_minute=max(1, limit.tokens_per_minute),
                concurrent_generations=principal.plan.concurrent_generations,
            )
        )
    return scopes


def _scope(principal: Principal, name: str, label: str, share: float) -> LimitScope:
    plan = principal.plan
    return LimitScope(
        name=f"limit:{name}",
        label=label,
        requests_per_minute=max(1, int(plan.requests_per_minute * share)),
        tokens_per_minute=max(1, int(plan.tokens_per_minute * share)),
        concurrent_generations=max(1, int(plan.concurrent_generations * share)),
    )
