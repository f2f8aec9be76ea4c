"""What was used takes the place of what admission had set aside."""

from collections.abc import Awaitable

import structlog
from django.db import DatabaseError
from redis.exceptions import RedisError

from backend.generation.admission.rate_limits import Limiter
from backend.generation.request import AdmittedGeneration
from backend.generation.usage import Usage
from billing.budgets import settle
from billing.services import UsageFacts

log = structlog.get_logger(__name__)


class Settlement:
    """Sets rate limits and budgets right. They are counters: the ledger is the truth."""

    def __init__(self, limiter: Limiter) -> None:
        self._limiter = limiter

    async def limits(self, admitted: AdmittedGeneration, usage: Usage) -> None:
        """Charge `usage` to the rate limits in the place of the estimate."""
        await quietly(
            self._limiter.settle(
                admitted.request.principal,
                admitted.id,
                model=admitted.pool,
                estimated=admitted.token_estimate,
                used=usage.input_tokens + usage.output_tokens,
            )
        )

    async def budget(self, admitted: AdmittedGeneration, facts: UsageFacts | None) -> None:
        """Charge what it cost in the place of the reservation; None: it never ran."""
        await quietly(
            settle(
                generation_id=admitted.id,
                facts=facts,
                may_hold_reservation=admitted.may_hold_reservation,
            )
        )


async def quietly(counting: Awaitable[None]) -> None:
    """Counters that could not be set right lapse by themselves; the end must not fail on them."""
    try:
        await counting
    except (RedisError, OSError, DatabaseError) as error:
        log.warning("counters_not_settled", error=str(error))
