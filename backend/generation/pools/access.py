"""Which models a caller may use: enforced here, and shown by the model lists."""

from collections.abc import Sequence

from backend.accounts.model_access import model_is_allowed, model_rules_current
from backend.accounts.principal import Principal
from backend.generation.pools.config import PoolConfig, PoolsInForce
from backend.platform.errors import InvalidRequest, ModelNotFound

AUTO = "auto"


async def pool_for(pools: PoolsInForce, name: str, principal: Principal) -> PoolConfig:
    """The pool that serves `name` to this caller. `auto` asks for an answer and not for a model:
    where its model is not theirs to use (in another region than theirs), the first chat model
    that is.

    Raises ModelNotFound: there is none, or none that they may use.
    """
    pool = pools.find(name)
    if not await may_use(pool.id, principal, pool.region):
        allowed = await _allowed(pools.models, principal) if name == AUTO else []
        stand_in = next((one for one in allowed if "chat" in one.capabilities), None)
        if stand_in is not None:
            return stand_in
        raise ModelNotFound(
            f"The model {name!r} does not exist, or your organization has no access to it."
            " GET /v1/models lists those that it may use.",
            param="model",
        )
    return pool


async def able_pool_for(
    pools: PoolsInForce, name: str, principal: Principal, capability: str
) -> PoolConfig:
    """The pool that serves `name` to this caller and has `capability`.

    `auto` is the first that they may use and that was made for it: one that does not chat too,
    where there is one.

    Raises:
        ModelNotFound: there is none, or none that they may use.
        InvalidRequest: the model lacks the capability.
    """
    if name == AUTO:
        able = [p for p in await pools_for(pools, principal) if capability in p.capabilities]
        if able:
            return min(able, key=lambda pool: "chat" in pool.capabilities)
    pool = await pool_for(pools, name, principal)
    require_capability(pool, capability, "model")
    return pool


def require_capability(pool: PoolConfig, capability: str, param: str) -> None:
    """Raises InvalidRequest: the model lacks it."""
    if capability not in pool.capabilities:
        raise InvalidRequest(
            f"The model '{pool.id}' does not support this: it lacks '{capability}'.",
            param=param,
            code="unsupported_by_model",
        )


async def pools_for(pools: PoolsInForce, principal: Principal) -> list[PoolConfig]:
    """The models that the caller and their project may use, in the file's order. What a project
    refuses is refused at admission (admission/allowed.py), with a reason of its own."""
    allowed = await _allowed(pools.models, principal)
    return [pool for pool in allowed if principal.project.allows(pool.id)]


async def may_use(model_id: str, principal: Principal, region: str = "") -> bool:
    """Whether the rules let the caller's organization use the model, which stands in `region`,
    served already or not."""
    return model_is_allowed(
        await model_rules_current(),
        model_id,
        region=region,
        organization_id=principal.organization_id,
        plan=principal.plan.slug,
    )


async def _allowed(models: Sequence[PoolConfig], principal: Principal) -> list[PoolConfig]:
    return [pool for pool in models if await may_use(pool.id, principal, pool.region)]
