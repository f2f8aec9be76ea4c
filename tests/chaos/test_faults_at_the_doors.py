"""`make run` under real traffic while everything in it dies; then not a character is missing."""

import os
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest

from tests.chaos.doors.agreement import Agreement, counted_by, kind_of
from tests.chaos.doors.faults import RandomFaults
from tests.chaos.doors.readers import MAX_TOKENS, PROMPTS, Crowd, Read, Reader
from tests.chaos.doors.tabs import Tab
from tests.chaos.doors.targets import targets_of
from tests.chaos.money import agreement as money
from tests.support.launched import LaunchedProduct
from tests.support.model_sources import launched

SEED = int(os.environ.get("PARLEY_CHAOS_SEED", "1"))
KILLS = int(os.environ.get("PARLEY_CHAOS_KILLS", "0"))
READERS = 6

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.model,
    pytest.mark.timeout(600 + 60 * KILLS),
    pytest.mark.skipif(not KILLS, reason="takes minutes: make chaos-doors"),
]


@pytest.fixture
def product(scratch: Path, model_file: Path) -> Iterator[LaunchedProduct]:
    """What `make run` starts, with the small model."""
    directory = Path(tempfile.mkdtemp(dir=scratch))
    directory.chmod(0o711)
    settings = {"PARLEY_SIGNUPS_PER_HOUR": "1000"}
    running = launched(directory, model_file, "small", settings, migrated=True)
    try:
        running.start()
        yield running
    finally:
        running.stop()
        print(running.output)  # pytest shows it beside a failure


@pytest.fixture
def readers(product: LaunchedProduct) -> Iterator[list[Reader]]:
    """The last one reads batches. No plan is in the way."""
    with psycopg.connect(product.environment["DATABASE_URL"]) as connection:
        connection.execute(
            "UPDATE accounts_plan SET requests_per_minute = 100000,"
            " tokens_per_minute = 100000000, concurrent_generations = 1000"
        )
    made = [Reader([product.url], SEED * 1000 + number) for number in range(READERS + 1)]
    yield made
    for reader in made:
        reader.close()


def test_every_character_is_delivered_stored_and_billed_while_everything_is_killed(
    product: LaunchedProduct, readers: list[Reader]
) -> None:
    print(f"seed {SEED}, {KILLS} kills and freezes (PARLEY_CHAOS_SEED, PARLEY_CHAOS_KILLS)")
    *people, program = readers
    right = _right_answers(people)
    crowd = Crowd(people, program)
    faults = RandomFaults(targets_of(product), crowd, SEED)
    began = time.monotonic()
    with Tab(people[0].person) as tab:
        crowd.begin()
        try:
            faults.run(KILLS)
            crowd.end()
            tab.hears_of(people[0].person.new_conversation)
        finally:
            faults.close()
            crowd.leave()
    seconds = time.monotonic() - began
    _wait_until_quiet(product)

    engine = product.environment["PARLEY_ENGINE_URL"], product.environment["PARLEY_ENGINE_API_KEY"]
    found = Agreement(product, readers, right, counted_by(*engine))
    found.check_ledger()
    for read in crowd.reads:
        found.check_read(read)
    found.check_batch(program, crowd.of(program))
    kept = _check_stored(people, crowd)
    money.check_derived(product)
    print(*faults.seen.lines(), sep="\n")
    print(_summary(crowd.reads, found, seconds, kept, tab))


def _right_answers(people: list[Reader]) -> dict[tuple[str, str], str]:
    """Of each prompt, at the page and at the API, as long as any will be asked for."""
    right = {}
    for prompt in PROMPTS:
        for door in ("page", "client"):
            [read] = people[0].ask(door, prompt=prompt, tokens=MAX_TOKENS)
            assert read.text and not read.failed
            right[kind_of(door), prompt] = read.text
    return right


def _check_stored(readers: list[Reader], crowd: Crowd) -> Counter[str]:
    """What a program is given again under its key is what it read."""
    kept: Counter[str] = Counter()
    for reader in readers:
        for read in crowd.of(reader):
            if read.key is None or read.failed:
                continue
            again = reader.text_under(read)
            assert again in (None, read.text), read
            kept["replayed" if again is not None else "no longer kept"] += 1
    return kept


def _wait_until_quiet(product: LaunchedProduct) -> None:
    """Until every generation has ended, and its usage has gone all the way."""
    for count in (
        "SELECT count(*) AS left FROM generation_generation WHERE finished_at IS NULL",
        "SELECT count(*) AS left FROM billing_outboxevent WHERE published_at IS NULL",
        "SELECT count(*) AS left FROM billing_usagerecord r WHERE NOT EXISTS"
        " (SELECT 1 FROM billing_usageevent e WHERE e.event_id = r.generation_id)",
    ):
        product.wait_until(lambda count=count: product.rows(count)[0]["left"] == 0)  # type: ignore[misc]
    product.wait_until(lambda: httpx.get(f"{product.url}/readyz", timeout=10).status_code == 200)


def _summary(
    reads: list[Read], found: Agreement, seconds: float, kept: Counter[str], tab: Tab
) -> str:
    pauses = sorted(read.pause_s for read in reads)
    doors = Counter(read.door for read in reads)
    states = Counter(row["state"] for row in found.rows.values())
    middle, late = statistics.median(pauses), pauses[len(pauses) * 99 // 100]
    lines = (
        f"{seconds:.0f} s; {len(reads)} answers {dict(doors)}; {dict(states)},"
        f" {found.lost} lost with process and stream",
        f"{sum(len(read.text) for read in reads)} characters read, {found.equal} texts as they were"
        " before;"
        f" {sum(read.broken for read in reads)} broken connections;"
        f" the tab was opened {tab.connections} times",
        f"longest pause of an answer: median {middle:.1f} s, p99 {late:.1f} s,"
        f" max {pauses[-1]:.1f} s",
        f"asked again under their keys: {dict(kept)}",
    )
    return "\n".join(lines)
