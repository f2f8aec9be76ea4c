"""Which requests of a model go to one that is tried beside it (pools/rollouts.py).

The candidate gets a request only if it may have it: the caller may use it, it can do what is asked
for, takes requests now, and costs no more. The answer names the model that made it; the header
`x-parley-canary-of` names the one that was asked for.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from backend.generation.admission.fallback import can_serve, may_be_used
from backend.generation.admission.queue import AdmissionQueue
from backend.generation.pools.config import PoolConfig, PoolsInForce
from backend.generation.pools.prefixes import prefix_of
from backend.generation.pools.rollouts import Rollouts
from backend.generation.request import GenerationRequest
from billing.prices.book import Payer, PriceBook, UnpricedUsage
from billing.prices.loading import shared_price_book
from billing.quantities import Kind

_TOKENS = (Kind.INPUT, Kind.CACHED_INPUT, Kind.OUTPUT, Kind.REASONING)
CANARY_HEADER = "x-parley-canary-of"


@dataclass(frozen=True, slots=True)
class Choice:
    """The model for a request. `mark`: by which its answer is counted; "" where none is tried."""

    pool: PoolConfig
    mark: str = ""


async def with_canary(
    pools: PoolsInForce,
    queues: Mapping[str, AdmissionQueue],
    rollouts: Rollouts,
    asked_for: PoolConfig,
    request: GenerationRequest,
) -> Choice:
    """`asked_for`, or the candidate that is tried on a part of its requests."""
    trials = rollouts.trials
    trial = trials.get(request.model) or trials.get(asked_for.id)
    candidate = pools.get(trial.candidate) if trial is not None else None
    if trial is None or candidate is None or candidate.id == asked_for.id:
        return Choice(asked_for)
    if not can_serve(candidate, request) or not await may_be_used(candidate, request.principal):
        return Choice(asked_for)
    if trial.is_shadow:  # a copy goes to the candidate (run/shadow.py)
        is_copied = trial.is_chosen(prefix_of(request).root)
        mark = rollouts.mark(trial, is_candidate=False) if is_copied else ""
        return Choice(asked_for, mark)
    payer = Payer(request.principal.organization_id, request.principal.project_id)
    book = await shared_price_book(organization_id=payer.organization_id)
    if costs_more(book, candidate.id, asked_for.id, payer):
        return Choice(asked_for)
    root = prefix_of(request).root
    if trial.is_chosen(root) and not queues[candidate.id].refuses_all:
        return Choice(candidate, rollouts.mark(trial, is_candidate=True))
    # Only those are compared that could have gone to either.
    return Choice(asked_for, rollouts.mark(trial, is_candidate=False))


def costs_more(book: PriceBook, candidate: str, asked_for: str, payer: Payer) -> bool:
    """Whether any token of the candidate may be dearer than the same of the model asked for, at
    whatever volume; also where a price is not known."""
    now = datetime.now(UTC)
    try:
        for kind in _TOKENS:
            tried, usual = (
                [
                    tier.price
                    for tier in book.price(model=model, kind=kind, payer=payer, at=now).tiers
                ]
                for model in (candidate, asked_for)
            )
            if max(tried) > min(usual):
                return True
    except UnpricedUsage:
        return True
    return False
