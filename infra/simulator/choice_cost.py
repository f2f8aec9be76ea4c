"""What a gateway's choice of a replica costs, by how many there are: the real `ReplicaSet`."""

from __future__ import annotations

import time

from backend.generation.pools.prefixes import Prefix
from backend.generation.pools.replicas import ReplicaSet
from infra.simulator.exact import PoolSpec, pool_config
from infra.simulator.step_times import StepTimes

_SIZES = (4, 100, 1_000, 5_000)
_POLICIES = ("prefix", "least_loaded", "round_robin")


def table(times: StepTimes) -> str:
    lines = ["| replicas | " + " | ".join(_POLICIES) + " |", "|--:|" + "--:|" * len(_POLICIES)]
    for size in _SIZES:
        cells = [f"{_choice_s(times, size, policy) * 1000:.2f} ms" for policy in _POLICIES]
        lines.append(f"| {size:,} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _choice_s(times: StepTimes, size: int, policy: str) -> float:
    """Processor time of one choice."""
    spec = PoolSpec(times, size, routing=policy)
    replicas = ReplicaSet(pool_config([f"e{number}" for number in range(size)], spec))
    for replica in replicas.replicas:
        replica.mark(True, "")
    count = max(5, 10_000 // size)
    began = time.process_time()
    for number in range(count):
        replicas.choose(weight=1, affinity=Prefix(b"%d" % number, (b"block",)))
    return (time.process_time() - began) / count
