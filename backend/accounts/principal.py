"""Who makes a request: the value that every service and selector is scoped by."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest

from backend.accounts.scopes import Scope
from backend.platform.errors import PermissionDenied


@dataclass(frozen=True, slots=True)
class PlanLimits:
    """The limits of the organization's plan, copied so that no query is needed later."""

    slug: str
    queue_priority: int
    requests_per_minute: int
    tokens_per_minute: int
    concurrent_generations: int


@dataclass(frozen=True, slots=True)
class ModelLimit:
    """What a project may ask of one model."""

    model: str
    requests_per_minute: int
    tokens_per_minute: int


@dataclass(frozen=True, slots=True)
class ProjectRules:
    """What binds a project's callers beside the plan, copied as `PlanLimits` is.

    Attributes:
        allowed_models: none means all.
    """

    allowed_models: frozenset[str] = frozenset()
    limits: tuple[ModelLimit, ...] = ()

    def allows(self, model: str) -> bool:
        return not self.allowed_models or model in self.allowed_models

    def limit_of(self, model: str) -> ModelLimit | None:
        """Its own, else that of the model without its adapter."""
        limits = {limit.model: limit for limit in self.limits}
        return limits.get(model) or limits.get(model.partition(":")[0])


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
    project: ProjectRules = ProjectRules()

    @property
    def is_api_key(self) -> bool:
        return self.key_id is not None

    @property
    def manages_organization(self) -> bool:
        """Whether the role speaks for the whole organization: its members and all its keys."""
        return self.role in {"owner", "admin"}

    def require(self, scope: Scope) -> None:
        """PermissionDenied unless the caller may use this part of the product."""
        if scope is Scope.ADMINISTRATION and self.is_api_key and scope not in self.scopes:
            raise PermissionDenied(
                "This API key does not administer the organization; use one with the scope"
                f" {scope.value}.",
                code="insufficient_scope",
            )
        if self.scopes and scope not in self.scopes:
            raise PermissionDenied(
                f"This API key is restricted to {', '.join(sorted(self.scopes))};"
                f" this request needs the scope {scope.value}.",
                code="insufficient_scope",
            )


class AuthenticatedRequest(HttpRequest):
    """What a route behind authentication gets: for type checkers only, never instantiated."""

    auth: Principal
    request_id: str
    scope: Mapping[str, Any]
