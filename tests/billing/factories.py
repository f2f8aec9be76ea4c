"""Data for the tests of billing: organizations, principals and usage."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from backend.accounts.models import APIKey, Membership, Organization, Plan, Project, Role, User
from backend.accounts.principal import PlanLimits, Principal
from billing.quantities import TokenCounts
from billing.services import UsageFacts

MODEL = "smollm2-135m"


def principal(*, role: str = Role.OWNER, organization: Organization | None = None) -> Principal:
    """A member of an organization (of a new one, when none is given), in its default project."""
    organization = organization or organization_new()
    project, _ = Project.objects.get_or_create(
        organization=organization, is_default=True, defaults={"name": "Default"}
    )
    user = User.objects.create_user(f"{uuid4().hex}@example.com")
    Membership.objects.create(organization=organization, user=user, role=role)
    return Principal(
        organization_id=organization.id,
        project_id=project.id,
        user_id=user.id,
        key_id=None,
        role=role,
        plan=PlanLimits("free", 20, 20, 60_000, 4),
    )


def organization_new(name: str = "Acme") -> Organization:
    # A transactional test ends by emptying every table, the plans too.
    plan, _ = Plan.objects.get_or_create(
        slug="free",
        defaults={
            "name": "Free",
            "queue_priority": 20,
            "requests_per_minute": 20,
            "tokens_per_minute": 60_000,
            "concurrent_generations": 4,
        },
    )
    return Organization.objects.create(name=name, plan=plan)


def email_of(caller: Principal) -> str:
    return User.objects.get(pk=caller.user_id).email


def key_of(caller: Principal, *, name: str = "ci") -> APIKey:
    digest = uuid4().hex * 2
    return APIKey.objects.create(
        organization_id=caller.organization_id,
        project_id=caller.project_id,
        created_by_id=caller.user_id,
        name=name,
        prefix=f"sk-parley-{digest[:4]}",
        sha256=digest,
    )


def facts(caller: Principal, **changes: Any) -> UsageFacts:
    """A completed generation of `caller`: 100 tokens in (20 cached), 50 out."""
    values: dict[str, Any] = {
        "generation_id": uuid4(),
        "occurred_at": datetime.now(UTC),
        "organization_id": caller.organization_id,
        "project_id": caller.project_id,
        "user_id": caller.user_id,
        "key_id": caller.key_id,
        "model": MODEL,
        "pool": MODEL,
        "reported": TokenCounts(
            **{
                kind.value: changes.pop(kind.column, count)
                for kind, count in TokenCounts(input=100, cached_input=20, output=50).items()
            }
        ),
        "state": "completed",
        "ttft_ms": 120,
        "duration_ms": 900,
    }
    return UsageFacts(**{**values, **changes})


def uuid(n: int) -> UUID:
    """A readable, constant id."""
    return UUID(int=n)
