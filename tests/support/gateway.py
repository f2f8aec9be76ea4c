"""A gateway in the test's own event loop, with upstreams that the test controls.

Redis, PostgreSQL and HTTP are real; the upstream is a real HTTP server without a model
(infra/load/upstream.py), so that it can fail at the token that the test names.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from uuid import UUID

import orjson

from backend.accounts.principal import PlanLimits, Principal
from backend.conversations.types import ChatMessage
from backend.generation.completion import Completion
from backend.generation.gateway import Gateway
from backend.generation.models import Generation
from backend.generation.pools.config import PoolConfig, Pools, ReplicaConfig
from backend.generation.request import (
    DONE,
    Event,
    GenerationRequest,
    SamplingParams,
    StartedGeneration,
    TurnIds,
)
from backend.generation.service import (
    generation_cancel,
    generation_check,
    generation_events,
    generation_result,
    generation_start,
)
from backend.generation.settings import GatewaySettings
from backend.platform.cancellation import end_tasks
from backend.platform.database import in_database
from billing.models import UsageRecord
from infra.load.upstream import SyntheticUpstream
from tests.factories import MODEL, member

# For a request of the page: it returns as soon as it is queued.
TURN = TurnIds("conversation", "question", "answer")
_running: list[Gateway] = []

HELD = 20
"""After so many tokens an upstream with this `hang_after` waits for the test, however late that is:
what is done to a running answer is no race against its end."""

AMPLE = PlanLimits("standard", 5, 100_000, 10_000_000, 10_000)


def pools_of(*upstreams: SyntheticUpstream, **changes: Any) -> Pools:
    """One pool named like the default model, whose replicas are `upstreams`."""
    pool = PoolConfig(
        id=MODEL,
        name="Synthetic",
        aliases=("auto",),
        context_window=8192,
        max_output_tokens=4096,
        capabilities=("chat", "completions", "logprobs", "streaming"),
        upstream_model="synthetic",
        max_concurrency=64,
        price_per_1k={name: Decimal("0.0001") for name in ("input", "cached_input", "output")},
        sampling={"temperature": 0.25, "top_k": 40},
        dialect="vllm",
        replicas=tuple(
            ReplicaConfig(f"replica-{n}", upstream.url) for n, upstream in enumerate(upstreams)
        ),
    )
    return Pools((replace(pool, **changes),))


def quick_settings(**changes: Any) -> GatewaySettings:
    """Leases that lapse while a test waits."""
    return replace(GatewaySettings.from_django(), **{"lease_s": 1.0, "drain_s": 2.0, **changes})


@asynccontextmanager
async def running_gateway(pools: Pools, **changes: Any) -> AsyncIterator[Gateway]:
    gateway = Gateway(quick_settings(**changes), pools)
    await gateway.start()
    _running.append(gateway)
    try:
        yield gateway
    finally:
        _running.remove(gateway)
        await gateway.stop()


async def doomed_gateway(pools: Pools, **changes: Any) -> Gateway:
    """A running gateway that the test will `kill_gateway`."""
    gateway = Gateway(quick_settings(**changes), pools)
    await gateway.start()
    _running.append(gateway)
    return gateway


def newest() -> Gateway:
    """The gateway that was started last: that of the web process which a request reaches."""
    return _running[-1]


async def start(request: GenerationRequest) -> StartedGeneration:
    return await generation_start(newest(), request)


async def check(generation_id: UUID, *, principal: Principal) -> None:
    await generation_check(newest(), generation_id, principal=principal)


def events(generation_id: UUID, *, principal: Principal, after: int = 0) -> AsyncIterator[Event]:
    return generation_events(newest(), generation_id, principal=principal, after=after)


async def result(generation_id: UUID, *, principal: Principal) -> Completion:
    return await generation_result(newest(), generation_id, principal=principal)


async def cancel(generation_id: UUID, *, principal: Principal) -> None:
    await generation_cancel(newest(), generation_id, principal=principal)


async def all_end(gateway: Gateway, *upstreams: SyntheticUpstream) -> None:
    """These end, and the gateway knows that no replica is left."""
    for upstream in upstreams:
        await upstream.stop()
    async with asyncio.timeout(60):
        while any(queue.replicas.any_healthy for queue in gateway.queues.values()):
            await asyncio.sleep(0.05)


async def kill_gateway(gateway: Gateway) -> None:
    """End it as SIGKILL would, as far as that is possible within a process: nothing of it writes
    any more."""
    _running.remove(gateway)
    tasks = [*gateway._tasks, *(one.task for one in gateway.active if one.task)]
    await end_tasks(tasks)
    gateway.active.clear()
    gateway.client.close()


async def caller(plan: PlanLimits = AMPLE) -> Principal:
    """A new user in a new organization, with limits that are not in the way."""
    return replace(await in_database(member), plan=plan)


def chat(
    principal: Principal, text: str = "Tell me about words.", **changes: Any
) -> GenerationRequest:
    params = changes.pop("params", SamplingParams(max_tokens=changes.pop("max_tokens", 20)))
    return GenerationRequest(
        **{
            "principal": principal,
            "request_id": "req_test",
            "endpoint": "chat",
            "model": MODEL,
            "messages": [ChatMessage("user", text)],
            "params": params,
            **changes,
        }
    )


@dataclass(frozen=True)
class Answer:
    """What a reader saw of one generation."""

    events: list[Event]

    @property
    def chunks(self) -> list[dict[str, Any]]:
        return [orjson.loads(event.data) for event in self.events if event.data != DONE]

    @property
    def text(self) -> str:
        return self.text_of(0)

    def text_of(self, choice: int) -> str:
        parts = [
            part["delta"].get("content", "") if "delta" in part else part["text"]
            for chunk in self.chunks
            for part in chunk.get("choices", ())
            if part["index"] == choice
        ]
        return "".join(parts)

    @property
    def finish_reason(self) -> str | None:
        reasons = [
            part["finish_reason"]
            for chunk in self.chunks
            for part in chunk.get("choices", ())
            if part["finish_reason"]
        ]
        return reasons[0] if reasons else None

    @property
    def error(self) -> dict[str, Any] | None:
        return next((chunk["error"] for chunk in self.chunks if "error" in chunk), None)

    @property
    def done(self) -> bool:
        return bool(self.events) and self.events[-1].data == DONE

    def check_order(self, after: int = 0) -> None:
        """Ids increase by one from `after`, and `[DONE]` is there once, last."""
        assert [e.seq for e in self.events] == list(
            range(after + 1, after + 1 + len(self.events))
        ), [e.seq for e in self.events]
        assert [e.data for e in self.events].count(DONE) == 1
        assert self.done


async def read(
    generation_id: UUID,
    principal: Principal,
    *,
    after: int = 0,
    until: Callable[[list[Event]], bool] | None = None,
) -> Answer:
    """Read to the end, or until `until` says so."""
    seen: list[Event] = []
    stream = events(generation_id, principal=principal, after=after)
    try:
        async for event in stream:
            seen.append(event)
            if until is not None and until(seen):
                break
    finally:
        await stream.aclose()  # type: ignore[attr-defined]
    return Answer(seen)


async def ask(request: GenerationRequest) -> tuple[StartedGeneration, Answer]:
    started = await start(request)
    return started, await read(started.id, request.principal)


async def stored(generation_id: UUID) -> Generation:
    return await in_database(lambda: Generation.objects.get(pk=generation_id))


async def usage_records(generation_id: UUID) -> list[UsageRecord]:
    return await in_database(lambda: list(UsageRecord.objects.filter(generation_id=generation_id)))


async def check_billed(generation_id: UUID, *, output_tokens: int, state: str) -> Generation:
    """The row, and exactly one usage record, say the same."""
    row = await stored(generation_id)
    [record] = await usage_records(generation_id)
    assert (row.state, record.state) == (state, state)
    assert (row.output_tokens, record.output_tokens) == (output_tokens, output_tokens)
    assert row.finished_at is not None
    return row


async def until_ended(generation_id: UUID, timeout_s: float = 60.0) -> Generation:
    """Wait for the terminal state; what takes seconds is asked for seldom."""
    pause_s = 0.02
    async with asyncio.timeout(timeout_s):
        while (row := await stored(generation_id)).is_open:
            await asyncio.sleep(pause_s)
            pause_s = min(1.3 * pause_s, 0.3)
    return row
