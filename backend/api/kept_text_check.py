"""The check of what people keep for prompts to come: it stands in system messages later, which the
pre-check trusts."""

from backend.accounts.principal import AuthenticatedRequest, Principal
from backend.api.throttling import count_use
from backend.generation.pools.config import load_pools
from backend.platform.database import in_database
from backend.platform.errors import ContentBlocked
from safety.audit.selectors import policy_for
from safety.checks import PreClassifier
from safety.judge.policy import Policy
from safety.judge.timeout import TimedCheck
from safety.taxonomy import Category
from safety.types import Action, SafetyMessage

_CHECK = TimedCheck(PreClassifier())
_ORDERS = Category.PROMPT_INJECTION


async def memory_check(request: AuthenticatedRequest, text: str) -> None:
    """Raises ContentBlocked where a prompt of these words would be refused, or they give orders:
    a model may have proposed them. A classifier computes, so it is limited as moderations are."""
    await count_use(request, request.auth, "moderations")
    await in_database(_refuse, request.auth, text, "This memory was refused", gives_orders=False)


async def instructions_check(request: AuthenticatedRequest, *texts: str | None) -> None:
    """Raises ContentBlocked where a prompt of these words would be refused for its harm. That they
    give orders is what instructions are for; null and empty ones are passed over."""
    said = "\n\n".join(text for text in texts if text)
    if said.strip():
        await count_use(request, request.auth, "moderations")
        await in_database(instructions_refuse, request.auth, said)


def instructions_refuse(principal: Principal, text: str) -> None:
    """As `instructions_check`, of texts that come many at once."""
    _refuse(principal, text, "These instructions were refused", gives_orders=True)


def _refuse(principal: Principal, text: str, refusal: str, *, gives_orders: bool) -> None:
    policy = policy_for(
        organization_id=principal.organization_id,
        model=load_pools().models[0].id,
        key_id=principal.key_id,
    )
    decision = _CHECK.check([SafetyMessage("user", text)], policy)
    orders = not gives_orders and _refuses_orders(policy) and _ORDERS in decision.categories
    if decision.blocked or orders:
        raise ContentBlocked(refusal, categories=decision.categories)


def _refuses_orders(policy: Policy) -> bool:
    return not policy.dry_run and policy.action(_ORDERS, "prompt") is Action.BLOCK
