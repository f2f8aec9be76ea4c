"""Who makes a request: the value that every service and selector is scoped by."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class PlanLimits:
    """The limits of the organization's plan, copied so that no query is needed later."""

    slug: str
    queue_priority: int
    requests_per_minute: int
    tokens_per_minute: int
    concurrent_generations: int


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated caller, by API key or by session.

    Attributes:
        user_id: the signed-in user, or the creator of the key.
        key_id: the API key, None for a browser session.
        role: the user's role in `organization_id`.
        scopes: what the key may do; empty means everything (a session, an unrestricted key).
    """

    organization_id: UUID
    project_id: UUID
    user_id: UUID
    key_id: UUID | None
    role: str
    plan: PlanLimits
    scopes: frozenset[str] = frozenset()

    @property
    def is_api_key(self) -> bool:
        return self.key_id is not None
