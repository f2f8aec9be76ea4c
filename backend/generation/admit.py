"""Bring a request through admission: at the model that shall serve it, at a cheaper one that its
budget has room for, or by a stored answer while none can serve."""

from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from backend.generation import metrics
from backend.generation.admission.estimate import (
    input_bound,
    input_estimate,
    output_estimate,
    output_limit,
)
from backend.generation.admission.model_choice import (
    ModelChoice,
    choices_in_outage,
    model_choice,
    within_budget,
)
from backend.generation.admission.outage import stored_answer
from backend.generation.admission.pipeline import Admission
from backend.generation.admission.prompt_check import Fence
from backend.generation.admission.queue import NoReplica
from backend.generation.admission.shed import PendingRequest
from backend.generation.gateway import Gateway
from backend.generation.pools.config import PoolConfig
from backend.generation.pools.prefixes import prefix_of
from backend.generation.request import AdmittedGeneration, GenerationRequest
from backend.generation.reuse.plan import ReusePlan
from backend.generation.stations import StationClock
from backend.generation.trace import GenerationTrace
from backend.platform.errors import InsufficientQuota, ParleyError
from backend.platform.ids import time_ordered_id


async def admit(
    gateway: Gateway,
    request: GenerationRequest,
    pending: PendingRequest | None,
    fence: Fence | None,
    clock: StationClock,
    trace: GenerationTrace,
) -> tuple[Admission, dict[str, str]]:
    """Pass admission at the pool that shall serve it, and say by headers where that is another one
    than was asked for. Where none can serve, a stored answer passes in its place."""
    choice = await model_choice(gateway.pools, gateway.queues, gateway.rollouts, request)
    try:
        admission = await _admit_at(gateway, choice, request, pending, fence, clock, trace)
    except NoReplica as refusal:
        left = await choices_in_outage(gateway.pools, choice, request)
        stored = await stored_answer(request, left)
        if stored is None:
            _count_refusal(choice, request, refusal)
            raise
        choice = stored.choice
        admission = await _admit_at(
            gateway, choice, request, None, fence, clock, trace, stored=stored.plan
        )
    except InsufficientQuota:
        cheaper = await within_budget(gateway.pools, gateway.queues, choice, request)
        if cheaper is None:
            raise
        choice = cheaper
        admission = await _admit_at(gateway, choice, request, pending, fence, clock, trace)
    return admission, choice.headers


async def _admit_at(
    gateway: Gateway,
    choice: ModelChoice,
    request: GenerationRequest,
    pending: PendingRequest | None,
    fence: Fence | None,
    clock: StationClock,
    trace: GenerationTrace,
    *,
    stored: ReusePlan | None = None,
) -> Admission:
    pool, pipeline = choice.pool, gateway.admission
    admission = _admission(gateway, pool, request, pending, fence, clock, mark=choice.mark)
    admission.admitted = replace(admission.admitted, traceparent=trace.traceparent)
    admission.reuse = stored
    steps = pipeline.for_generations if stored is None else pipeline.without_engines
    try:
        await pipeline.admit(admission, steps)
    except NoReplica:
        raise  # `admit` knows whether that is the last word
    except ParleyError as error:
        _count_refusal(choice, request, error)
        raise
    return admission


def _count_refusal(choice: ModelChoice, request: GenerationRequest, error: ParleyError) -> None:
    plan = request.principal.plan.slug
    metrics.REFUSED.labels(choice.pool.id, plan, error.code or "").inc()


def _admission(
    gateway: Gateway,
    pool: PoolConfig,
    request: GenerationRequest,
    pending: PendingRequest | None,
    fence: Fence | None,
    clock: StationClock,
    *,
    mark: str = "",
) -> Admission:
    now = datetime.now(UTC)
    longest_s = gateway.settings.timeout_s
    timeout_s = min(request.timeout_s or longest_s, longest_s)
    admitted = AdmittedGeneration(
        request.generation_id or time_ordered_id(),
        request,
        created_at=now,
        deadline_at=now + timedelta(seconds=timeout_s),
        token_estimate=input_estimate(request) + output_estimate(request, pool),
        pool=pool.id,
        mark=mark,
    )
    return Admission(
        admitted=admitted,
        pool=pool,
        max_input_tokens=input_bound(request, pool),
        max_output_tokens=output_limit(request, pool),
        affinity=prefix_of(request) if len(pool.replicas) > 1 else None,
        pending=pending,
        fence=fence,
        clock=clock,
    )
