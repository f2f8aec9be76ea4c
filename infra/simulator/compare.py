"""One trace, put to four real engines by the real queue and routing policy, and simulated.

Two real runs are not alike: on a machine of two cores, two thirds of which it takes, what other
programs do shows in each wait. So a run is repeated with new engines, whose caches are empty, and
the simulation is held against the median, with the runs' own spread beside it.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

import aiohttp
import msgspec
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
SIMULATIONS = 5
_LATE_S = 0.02


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


def simulated(
    spec: PoolSpec, conversations: list[Conversation], runs: int = SIMULATIONS
) -> list[Summary]:
    """The same conversations, each begun some milliseconds later or earlier, as real ones are: who
    comes first to a replica decides where the next ones go."""
    found = []
    for seed in range(runs):
        chance = random.Random(seed)  # noqa: S311
        begun = [
            replace(one, begins_s=one.begins_s + chance.uniform(0.0, _LATE_S))
            for one in conversations
        ]
        found.append(summarized(simulate(spec, begun, SEED), spec.replicas))
    return found


class RealRun(msgspec.Struct, frozen=True):
    """What one real run gave.

    Attributes:
        figures: of `FIGURES`, by name.
        others: cores that programs took which are no part of it.
        is_first: whether it had the processor before these, which then had what it left.
        used_s: processor seconds that engines, their servers and the harness took; 0: not known.
    """

    figures: dict[str, float]
    others: float
    is_first: bool = False
    used_s: float = 0.0

    @property
    def cores_less(self) -> float:
        return 0.0 if self.is_first else self.others


def measured(
    urls: Sequence[str], spec: PoolSpec, conversations: list[Conversation], *, is_first: bool
) -> RealRun:
    """A real run. Once for engines: a second one would find its prompts cached."""
    began, all_before, before = time.perf_counter(), _machine_s(), _ours_s()
    outcomes = asyncio.run(real(urls, spec, conversations))
    ours, everything = _ours_s() - before, _machine_s() - all_before
    others = max(0.0, everything - ours) / (time.perf_counter() - began)
    return RealRun(figures_of(summarized(outcomes, len(urls))), others, is_first, ours)


def keep(run: RealRun, path: Path) -> None:
    """Add a run to those in a file."""
    with path.open("ab") as file:
        file.write(msgspec.json.encode(run) + b"\n")


def kept(path: Path) -> list[RealRun]:
    """All runs of a file. Raises FileNotFoundError."""
    return [msgspec.json.decode(line, type=RealRun) for line in path.read_bytes().splitlines()]


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


def run_once(
    urls: Sequence[str], times: StepTimes, *, is_first: bool, traffic: Traffic = TRAFFIC
) -> RealRun:
    spec = spec_of(times, len(urls))
    return measured(urls, spec, trace(traffic, SEED), is_first=is_first)


def compare(
    runs: Sequence[RealRun], times: StepTimes, engines: int, traffic: Traffic = TRAFFIC
) -> str:
    """A table of real and simulated runs, these on as many cores as those had."""
    conversations = trace(traffic, SEED)
    spec = replace(
        spec_of(times, engines),
        harness_s=harness_s(conversations),
        others=median(run.cores_less for run in runs),
    )
    found = [figures_of(run) for run in simulated(spec, conversations)]
    others = ", ".join(
        f"{run.others:.2f}{' of what the run left' if run.is_first else ''}" for run in runs
    )
    return (
        f"{table([run.figures for run in runs], found)}\n\n"
        f"Of {times.cores} cores other programs took {others}."
    )


FIGURES: dict[str, Callable[[Summary], float]] = {
    "TTFT, mean, ms": lambda run: 1000 * run.ttft_mean_s,
    "TTFT, p50, ms": lambda run: 1000 * run.ttft_p50_s,
    "TTFT, p95, ms": lambda run: 1000 * run.ttft_p95_s,
    "between tokens, ms": lambda run: 1000 * run.itl_mean_s,
    "output tokens a second": lambda run: run.output_per_s,
    "busiest replica": lambda run: run.busiest,
}


def figures_of(run: Summary) -> dict[str, float]:
    return {name: figure(run) for name, figure in FIGURES.items()}


def table(runs: Sequence[dict[str, float]], found: Sequence[dict[str, float]]) -> str:
    """Medians of both, the least and the most of each, and by how much the simulated median is off
    the real one."""
    lines = [
        f"| | real, median of {len(runs)} | from, to | simulated, median of {len(found)} | from, to"
        " | off by |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for name in FIGURES:
        real, simulated = sorted(run[name] for run in runs), sorted(run[name] for run in found)
        cells = [
            cell
            for seen in (real, simulated)
            for cell in (f"{median(seen):.4g}", f"{seen[0]:.4g}, {seen[-1]:.4g}")
        ]
        off = median(simulated) / median(real) - 1
        lines.append(f"| {name} | {' | '.join(cells)} | {off:+.1%} |")
    return "\n".join(lines)
