"""The simulator's queue gives places, and refuses, as the gateway's own does."""

import asyncio
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from backend.generation.admission.queue import AdmissionQueue, Ticket
from backend.generation.pools.replicas import ReplicaSet
from backend.platform.errors import Overloaded
from infra.simulator.exact import PoolSpec, pool_config
from infra.simulator.ordered_queue import OrderedQueue
from infra.simulator.step_times import load
from infra.simulator.trace import PLANS

ROOM = 5

Asked = tuple[int, int]
"""Priority and organization of a request; of priority -1 it is a place that becomes free."""
asked = st.lists(st.tuples(st.sampled_from([-1, *PLANS.values()]), st.integers(1, 4)), max_size=60)


async def _of_the_gateway(events: list[Asked]) -> list[str]:
    """What became of each request, in the order in which it is known."""
    spec = PoolSpec(load("llama-3.3-70b-fp8-h100x2"), 1, places=1)
    replicas = ReplicaSet(pool_config(["e0"], spec))
    replicas.replicas[0].mark(True, "")
    clock = 0.0
    queue = AdmissionQueue(replicas, max_waiting=ROOM, clock=lambda: clock)
    running = queue.reserve(priority=0, weight=1, affinity=None, organization=UUID(int=9))
    await running.granted()
    seen: list[str] = []
    tickets: dict[int, Ticket] = {}
    for number, (priority, organization) in enumerate(events):
        clock += 0.5
        if priority < 0:
            before = {n for n, one in tickets.items() if one.settled}
            running.release()
            granted = [n for n, one in tickets.items() if one.settled and n not in before]
            seen += [f"granted {n}" for n in granted]
            if granted:
                running = tickets[granted[0]]
            else:
                running = queue.reserve(
                    priority=0, weight=1, affinity=None, organization=UUID(int=9)
                )
                await running.granted()
            continue
        try:
            ticket = queue.reserve(
                priority=priority, weight=1, affinity=None, organization=UUID(int=organization)
            )
        except Overloaded:
            seen.append(f"refused {number}")
            continue
        queue.enter(ticket)
        tickets[number] = ticket
    return seen


def _of_the_simulator(events: list[Asked]) -> list[str]:
    queue, seen = OrderedQueue(ROOM), []
    for number, (priority, organization) in enumerate(events):
        if priority < 0:
            if len(queue):
                seen.append(f"granted {queue.next()}")
            continue
        now = (number + 1) * 0.5
        if not queue.join(number, priority, UUID(int=organization), now, 0):
            seen.append(f"refused {number}")
    return seen


@settings(max_examples=80, deadline=None)
@given(asked)
def test_order_and_refusals_are_those_of_the_gateway(events: list[Asked]) -> None:
    assert _of_the_simulator(events) == asyncio.run(_of_the_gateway(events))
