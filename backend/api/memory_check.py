"""The check of a memory before it is kept: it stands in prompts later, where a system message is
not checked again."""

from backend.accounts.principal import Principal
from backend.generation.pools.config import load_pools
from backend.platform.errors import ContentBlocked
from safety.audit.selectors import policy_for
from safety.checks import PreClassifier
from safety.judge.timeout import TimedCheck
from safety.types import SafetyMessage

_CHECK = TimedCheck(PreClassifier())


def memory_check(*, principal: Principal, text: str) -> None:
    """Raises ContentBlocked where a prompt of these words would be refused."""
    policy = policy_for(
        organization_id=principal.organization_id,
        model=load_pools().models[0].id,
        key_id=principal.key_id,
    )
    decision = _CHECK.check([SafetyMessage("user", text)], policy)
    if decision.blocked:
        raise ContentBlocked(
            "This memory was refused by the usage policy.",
            details={"categories": decision.categories},
        )
