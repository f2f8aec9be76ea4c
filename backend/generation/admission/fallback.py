"""Which model serves when the one that was asked for cannot: a chain that the pools file names.
What is left when none of it can: outage.py.

`fallback = ["same-model-in-another-region", "a-smaller-one"]`: the first that takes requests now,
that the caller may use, that can do what the request asks for, and whose context window holds it.
The answer names the model that made it, and so do its usage and price; the header
`x-parley-fallback-from` names the one that was asked for.
"""

from collections.abc import Collection, Mapping

import structlog

from backend.accounts.principal import Principal
from backend.generation import metrics
from backend.generation.admission.estimate import input_estimate
from backend.generation.admission.queue import AdmissionQueue
from backend.generation.pools.access import may_use
from backend.generation.pools.config import PoolConfig, PoolsInForce
from backend.generation.pools.continuation import can_continue
from backend.generation.request import GenerationRequest

log = structlog.get_logger(__name__)

FALLBACK_HEADER = "x-parley-fallback-from"


async def serving_pool(
    pools: PoolsInForce,
    queues: Mapping[str, AdmissionQueue],
    asked_for: PoolConfig,
    request: GenerationRequest,
) -> PoolConfig:
    """`asked_for`, or the first of its chain that can stand in while it takes no requests. Where
    none can it is `asked_for` again, whose queue says why it refuses."""
    if not queues[asked_for.id].refuses_all:
        return asked_for
    for pool in await chain_of(pools, asked_for, request):
        if pool.id in queues and not queues[pool.id].refuses_all:
            metrics.FALLBACKS.labels(asked_for.id, pool.id).inc()
            log.warning("model_fell_back", model=asked_for.id, to=pool.id)
            return pool
    return asked_for


async def chain_of(
    pools: PoolsInForce, asked_for: PoolConfig, request: GenerationRequest
) -> list[PoolConfig]:
    """Who may stand in for `asked_for`, first the first, whether or not they serve now."""
    chain = [pool for name in asked_for.fallback if (pool := pools.get(name)) is not None]
    return [
        pool
        for pool in chain
        if can_serve(pool, request) and await may_be_used(pool, request.principal)
    ]


async def narrowed(
    pools: PoolsInForce,
    queues: Mapping[str, AdmissionQueue],
    asked_for: PoolConfig,
    principal: Principal,
    needs: Collection[str] = ("chat",),
) -> PoolConfig:
    """By whose window a chat with `asked_for` is cut: its own, or, while it takes no requests, that
    of the widest of those that stand in for it now, where that is narrower.

    Args:
        needs: capabilities that a model must have for what is to be asked.
    """
    if asked_for.id not in queues or not queues[asked_for.id].refuses_all:
        return asked_for
    chain = [pool for name in asked_for.fallback if (pool := pools.get(name)) is not None]
    serving = [
        pool
        for pool in chain
        if pool.id in queues
        and not queues[pool.id].refuses_all
        and {*needs} <= {*pool.capabilities}
        and await may_be_used(pool, principal)
    ]
    widest = max(serving, key=_window, default=asked_for)
    return min(asked_for, widest, key=_window)


def _window(pool: PoolConfig) -> int:
    return pool.context_window


def can_serve(pool: PoolConfig, request: GenerationRequest) -> bool:
    """Whether the model can do what `request` asks for, and holds it."""
    if request.continues_answer and not can_continue(request, pool):
        return False
    return needed_capabilities(request) <= {*pool.capabilities} and holds(pool, request)


def holds(pool: PoolConfig, request: GenerationRequest) -> bool:
    """Whether the model's window has room for what `request` says, and for an answer."""
    room = pool.context_window - min(pool.answer_limit(request), pool.context_window // 4)
    return input_estimate(request) <= room


def needed_capabilities(request: GenerationRequest) -> set[str]:
    """What a model must have for `request`, by the names of the pools file."""
    params = request.params
    asked = {
        "chat": request.endpoint == "chat",
        "completions": request.endpoint == "completion",
        "infill": bool(request.suffix),
        "logprobs": params.logprobs is not None,
        "structured_output": params.response_format is not None,
        "tools": request.tools is not None,
        "reasoning": bool(request.reasoning_effort),
        "vision": any(message.images for message in request.messages),
    }
    return {name for name, is_asked in asked.items() if is_asked}


async def may_be_used(pool: PoolConfig, principal: Principal) -> bool:
    """Whether the caller's organization and project let them."""
    return principal.project.allows(pool.id) and await may_use(pool.id, principal, pool.region)
