"""One trace, put to four real engines by the real queue and routing policy, and simulated."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

import aiohttp
import psutil

from backend.generation.admission.queue import AdmissionQueue
from backend.generation.pools.prefixes import prefix_of
from backend.generation.pools.replicas import ReplicaSet
from inference.bench.client import ask, session
from infra.simulator.exact import PoolSpec, pool_config, simulate
from infra.simulator.outcomes import Outcome, Summary, summarized
from infra.simulator.step_times import StepTimes
from infra.simulator.trace import Conversation, Traffic, trace

TRAFFIC = Traffic(conversations=150, per_s=1.1, mean_turns=3.0, pause_s=2.0, scale=0.2)
SEED = 7


def spec_of(times: StepTimes, engines: int, routing: str = "prefix") -> PoolSpec:
    """Real engines answer what they like, and the trace goes on with its own answers."""
    return PoolSpec(
        times=times,
        replicas=engines,
        routing=routing,
        announces=False,
        shares_machine=True,
        repeats_answers=False,
    )


async def real(
    urls: Sequence[str], spec: PoolSpec, conversations: list[Conversation]
) -> list[Outcome]:
    """What real engines did with the trace."""
    replicas = ReplicaSet(pool_config([f"e{number}" for number in range(len(urls))], spec))
    for replica in replicas.replicas:
        replica.mark(True, "")
    queue = AdmissionQueue(replicas, max_waiting=spec.max_waiting)
    clients = {f"e{number}": session(url) for number, url in enumerate(urls)}
    began = asyncio.get_running_loop().time()
    try:
        held = (_hold(queue, clients, one, began) for one in conversations)
        outcomes = [each for found in await asyncio.gather(*held) for each in found]
    finally:
        for client in clients.values():
            await client.close()
    return outcomes


async def _hold(
    queue: AdmissionQueue,
    clients: dict[str, aiohttp.ClientSession],
    conversation: Conversation,
    began: float,
) -> list[Outcome]:
    loop, outcomes = asyncio.get_running_loop(), []
    await asyncio.sleep(conversation.begins_s)
    for number, turn in enumerate(conversation.turns):
        await asyncio.sleep(turn.pause_s)
        request, prompt = conversation.request(number), conversation.prompt(number)
        arrived = loop.time()
        ticket = queue.reserve(
            priority=request.principal.plan.queue_priority,
            weight=1,
            affinity=prefix_of(request),
            organization=request.principal.organization_id,
        )
        try:
            replica = await ticket.granted()
            sent = loop.time()
            timing = await ask(clients[replica.name], prompt, turn.answer)
        finally:
            ticket.release()
        outcomes.append(
            Outcome(
                conversation=conversation.number,
                turn=number,
                arrived_s=arrived - began,
                state="completed",
                replica=replica.name,
                first_s=sent - began + timing.ttft,
                done_s=sent - began + timing.latency,
                prompt_tokens=len(prompt),
                output_tokens=len(timing.tokens),
            )
        )
    return outcomes


def simulated(spec: PoolSpec, conversations: list[Conversation]) -> Summary:
    return summarized(simulate(spec, conversations, SEED), spec.replicas)


def measured(
    urls: Sequence[str], spec: PoolSpec, conversations: list[Conversation]
) -> tuple[Summary, float]:
    """A real run, and the cores that programs took which are not part of it. Once for engines: a
    second one would find its prompts cached."""
    began, all_before, before = time.perf_counter(), _machine_s(), _ours_s()
    outcomes = asyncio.run(real(urls, spec, conversations))
    ours, everything = _ours_s() - before, _machine_s() - all_before
    others = max(0.0, everything - ours) / (time.perf_counter() - began)
    return summarized(outcomes, len(urls)), others


def _machine_s() -> float:
    used = psutil.cpu_times()
    return used.user + used.nice + used.system + used.irq + used.softirq + used.steal


def _ours_s() -> float:
    times = [one.cpu_times() for one in psutil.Process().children(recursive=True)]
    return time.process_time() + sum(one.user + one.system for one in times)


def harness_s(conversations: Sequence[Conversation]) -> float:
    """Processor seconds to make a request and what its replica is chosen by."""
    began, requests = time.process_time(), 0
    for conversation in conversations:
        for turn in range(len(conversation.turns)):
            conversation.prompt(turn)
            prefix_of(conversation.request(turn))
            requests += 1
    return (time.process_time() - began) / requests


def compare(urls: Sequence[str], times: StepTimes, traffic: Traffic = TRAFFIC) -> str:
    """A table of both runs."""
    conversations = trace(traffic, SEED)
    spec = replace(spec_of(times, len(urls)), harness_s=harness_s(conversations))
    run, others = measured(urls, spec, conversations)
    found = simulated(replace(spec, others=others), conversations)
    return f"{table(run, found)}\n\nOf {times.cores} cores other programs took {others:.2f}."


def table(run: Summary, found: Summary) -> str:
    """`off by`: the simulation from the real run."""
    rows = [
        ("TTFT, mean, ms", 1000 * run.ttft_mean_s, 1000 * found.ttft_mean_s),
        ("TTFT, p50, ms", 1000 * run.ttft_p50_s, 1000 * found.ttft_p50_s),
        ("TTFT, p95, ms", 1000 * run.ttft_p95_s, 1000 * found.ttft_p95_s),
        ("between tokens, ms", 1000 * run.itl_mean_s, 1000 * found.itl_mean_s),
        ("output tokens a second", run.output_per_s, found.output_per_s),
        ("busiest replica", run.busiest, found.busiest),
    ]
    lines = ["| | real | simulated | off by |", "|---|--:|--:|--:|"]
    lines += [
        f"| {name} | {real:.4g} | {simulated:.4g} | {simulated / real - 1:+.1%} |"
        for name, real, simulated in rows
    ]
    return "\n".join(lines)
