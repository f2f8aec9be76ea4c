"""What happens to a fleet in a week, under load: no answer is lost, none is billed twice, nobody is
refused while a replica has room."""

import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from infra.services.process import Service
from tests.chaos.doors.agreement import Agreement, counted_by, kind_of
from tests.chaos.doors.readers import MAX_TOKENS, PROMPTS, Crowd, Reader
from tests.chaos.fleet.engines import FleetEngine, wait_until
from tests.support.engine import ENGINE_KEY
from tests.support.product import Product

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.model,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(
        not os.environ.get("PARLEY_CHAOS_FLEET"), reason="takes minutes: make chaos-fleet"
    ),
]

ENGINES = 4
READERS = 8
# So few places that the queue is used: with four engines as many as readers.
PLACES = 2
# Answers that are read between two steps.
_BETWEEN = 10

_POOLS = f"""
[[model]]
id = "smollm2-135m"
aliases = ["auto"]
context_window = 8192
max_output_tokens = 4096
capabilities = ["chat", "completions", "streaming"]
max_concurrency = {PLACES}
price_per_1k = {{ input = "0.0001", cached_input = "0.00005", output = "0.0002" }}
sampling = {{ repetition_penalty = 1.05 }}
"""


@dataclass
class Fleet:
    """The engines that run, and the product before them."""

    product: Product
    model_file: Path
    engines: list[FleetEngine] = field(default_factory=list)
    started: int = 0

    @property
    def registry(self) -> Service:
        """Engines need it before the product is ready, which it is not without them."""
        redis = self.product.services.service("REDIS_URL")
        assert redis is not None
        return redis

    def add(self, *, revision: str = "one") -> FleetEngine:
        self.started += 1
        name = f"engine-{self.started}"
        engine = FleetEngine(name, self.model_file, self.product.directory, revision=revision)
        self.engines.append(engine)
        engine.start(self.registry.url)
        return engine

    def remove(self, engine: FleetEngine, end: Callable[[FleetEngine], None]) -> None:
        self.engines.remove(engine)
        end(engine)

    def serves(self, engine: FleetEngine) -> None:
        """Wait until an answer that begins from now on is of this engine."""
        now = datetime.now(UTC)
        served = (
            "SELECT count(*) AS count FROM generation_generation"
            " WHERE replica = %s AND created_at > %s AND finished_at IS NOT NULL"
        )
        wait_until(
            lambda: self.product.rows(served, [engine.name, now])[0]["count"] > 0,
            f"{engine.name} serves",
        )

    def stop(self) -> None:
        for engine in self.engines:
            engine.kill()


@pytest.fixture(params=["own queues", "shared queue"])
def fleet(request: pytest.FixtureRequest, scratch: Path, model_file: Path) -> Iterator[Fleet]:
    directory = Path(tempfile.mkdtemp(dir=scratch))
    directory.chmod(0o711)
    pools = directory / "pools.toml"
    pools.write_text(_POOLS)
    product = Product(
        directory,
        engine_url="",
        webs=2,
        background=("relay", "aggregator"),
        settings={
            "PARLEY_POOLS": str(pools),
            "PARLEY_SHARED_QUEUE": "1" if request.param == "shared queue" else "0",
        },
    )
    made = Fleet(product, model_file)
    try:
        made.registry.start()
        for _ in range(ENGINES):
            made.add()
        product.start()
        yield made
    finally:
        product.stop()
        made.stop()


@pytest.fixture
def readers(fleet: Fleet) -> Iterator[list[Reader]]:
    with psycopg.connect(fleet.product.environment["DATABASE_URL"]) as connection:
        connection.execute(
            "UPDATE accounts_plan SET requests_per_minute = 100000,"
            " tokens_per_minute = 100000000, concurrent_generations = 1000"
        )
    made = [Reader(fleet.product.urls, number) for number in range(READERS)]
    yield made
    for reader in made:
        reader.close()


def test_answers_are_whole_while_engines_fail_come_and_go(
    fleet: Fleet, readers: list[Reader]
) -> None:
    right = {}
    for prompt in PROMPTS:
        for door in ("page", "client"):
            [read] = readers[0].ask(door, prompt=prompt, tokens=MAX_TOKENS)
            right[kind_of(door), prompt] = read.text
    crowd = Crowd(readers)
    crowd.begin()
    try:
        for name, step in _STEPS.items():
            began, before = time.monotonic(), len(crowd.reads)
            step(fleet, crowd)
            crowd.read_more(_BETWEEN)
            seconds, since = time.monotonic() - began, crowd.reads[before:]
            print(
                f"| {name} | {len(since)} | {seconds:.0f} |"
                f" {max(one.pause_s for one in since):.1f} |"
                f" {sum((one.refusals for one in readers), start=_none()).total()} |",
                flush=True,
            )
        crowd.end()
    finally:
        crowd.leave()
    wait_until(lambda: _all_ended(fleet.product), "every generation has ended")

    tokens_of = counted_by(fleet.engines[0].network.url, ENGINE_KEY)
    found = Agreement(fleet.product, readers, right, tokens_of)
    found.check_ledger()
    for read in crowd.reads:
        found.check_read(read)
    assert not [read for read in crowd.reads if read.failed]
    assert not [row for row in found.rows.values() if row["state"] == "failed"]
    refused = sum((one.refusals for one in readers), start=_none())
    assert not refused, f"refused while others had room: {refused}"
    print(f"{len(crowd.reads)} answers, {sum(len(read.text) for read in crowd.reads)} characters")


# What happens. Each step leaves four engines that serve.


def _all_serve(fleet: Fleet, crowd: Crowd) -> None:
    for engine in fleet.engines:
        fleet.serves(engine)


def _kill(fleet: Fleet, crowd: Crowd) -> None:
    fleet.remove(fleet.engines[0], FleetEngine.kill)
    crowd.read_more(_BETWEEN)
    fleet.serves(fleet.add())


def _freeze(fleet: Fleet, crowd: Crowd) -> None:
    frozen = fleet.engines[0]
    frozen.freeze()
    crowd.read_more(_BETWEEN)
    fleet.remove(frozen, FleetEngine.kill)
    fleet.serves(fleet.add())


def _freeze_core(fleet: Fleet, crowd: Crowd) -> None:
    fleet.engines[0].freeze_core()
    fleet.serves(fleet.engines[0])


def _partition(fleet: Fleet, crowd: Crowd) -> None:
    network = fleet.engines[0].network
    network.partition()
    crowd.read_more(2 * _BETWEEN)
    network.heal()
    fleet.serves(fleet.engines[0])


def _slow_down(fleet: Fleet, crowd: Crowd) -> None:
    network = fleet.engines[0].network
    network.slow(1.0)
    crowd.read_more(3 * _BETWEEN)
    network.heal()
    fleet.serves(fleet.engines[0])


def _drain(fleet: Fleet, crowd: Crowd) -> None:
    fleet.serves(fleet.add())
    fleet.engines[0].drain()
    fleet.remove(fleet.engines[0], FleetEngine.stop)


def _scale(fleet: Fleet, crowd: Crowd) -> None:
    """A fifth, and one less again, of which nobody is asked first."""
    fleet.serves(fleet.add())
    fleet.remove(fleet.engines[0], FleetEngine.stop)


def _roll(fleet: Fleet, crowd: Crowd) -> None:
    """Each engine is replaced by one of the new revision; the new one serves before the old one
    drains."""
    for old in list(fleet.engines):
        fleet.serves(fleet.add(revision="two"))
        old.drain()
        fleet.remove(old, FleetEngine.stop)


_STEPS: dict[str, Callable[[Fleet, Crowd], None]] = {
    "four engines serve": _all_serve,
    "one is killed, another started": _kill,
    "one freezes": _freeze,
    "a core freezes": _freeze_core,
    "one is cut off, and heals": _partition,
    "one is slow, and heals": _slow_down,
    "one drains and ends": _drain,
    "a fifth comes, one ends": _scale,
    "all are replaced by a revision": _roll,
}


def _none() -> Counter[int]:
    return Counter()


def _all_ended(product: Product) -> bool:
    running = "SELECT count(*) AS count FROM generation_generation WHERE finished_at IS NULL"
    return bool(product.rows(running)[0]["count"] == 0)
