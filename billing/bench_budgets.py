"""How long a reservation takes: part of `billing.bench`, against the real Redis."""

import asyncio
import statistics
import time
from decimal import Decimal
from uuid import UUID, uuid4

from backend.accounts.models import Organization, Project
from backend.accounts.principal import PlanLimits, Principal
from billing.budgets import reserve, settle
from billing.models import Budget
from billing.prices.services import prices_seed

MODEL = "bench"


def measure_reservations(count: int) -> tuple[float, float]:
    """Milliseconds of a reservation in two budgets, one of them hard: median and 99th of 100."""
    prices_seed(prices={MODEL: {"input": "0.001", "output": "0.002"}})
    organization = Organization.objects.create(name="Bench", plan_id="free")
    project = Project.objects.create(organization=organization, name="Bench", is_default=True)
    Budget.objects.create(organization=organization, amount=Decimal(10**6), is_hard=True)
    Budget.objects.create(organization=organization, project=project, amount=Decimal(10**6))
    caller = Principal(
        organization_id=organization.id,
        project_id=project.id,
        user_id=UUID(int=1),
        key_id=None,
        role="owner",
        plan=PlanLimits("free", 0, 0, 0, 0),
    )
    times = asyncio.run(_reserve_and_release(caller, count))
    return statistics.median(times) * 1000, statistics.quantiles(times, n=100)[-1] * 1000


async def _reserve_and_release(caller: Principal, count: int) -> list[float]:
    times = []
    for _ in range(count):
        generation_id = uuid4()
        started = time.perf_counter()
        await reserve(
            principal=caller,
            generation_id=generation_id,
            model=MODEL,
            input_tokens=500,
            max_output_tokens=500,
        )
        times.append(time.perf_counter() - started)
        await settle(generation_id=generation_id, facts=None)
    return times[10:]  # the first ones load limits, prices and counters
