"""One run: readers at all doors, everything is hit, and then not a character is missing."""

import statistics
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

import httpx

from billing.schedule import BEAT_SCHEDULE
from tests.chaos.doors.agreement import Agreement
from tests.chaos.doors.faults import RandomFaults
from tests.chaos.doors.readers import Crowd, Read, Reader
from tests.chaos.doors.tabs import Tab
from tests.chaos.money import agreement as money
from tests.support.launched import LaunchedProduct
from tests.support.product import Product

_QUIET_WITHIN_S = float(BEAT_SCHEDULE["billing-reconcile"]["schedule"]) + 120.0
"""What the broker has lost is found at the next time for it, where the one that was due met a
Valkey that was away."""


def hit_under_readers(
    product: LaunchedProduct | Product,
    readers: Sequence[Reader],
    faults_of: Callable[[Crowd], RandomFaults],
    hits: int,
    *,
    right: Mapping[tuple[str, str], str],
    tokens_of: Callable[[str], int],
) -> Agreement:
    """Hit so often, wait until all is quiet, and hold what was read, stored and billed against each
    other.

    Args:
        readers: the last one reads batches; the first one has a tab open.
        right, tokens_of: of `Agreement`.
    """
    *people, program = readers
    crowd = Crowd(people, program)
    faults = faults_of(crowd)
    began = time.monotonic()
    with Tab(people[0].person) as tab:
        crowd.begin()
        try:
            faults.run(hits)
            crowd.end()
            tab.hears_of(people[0].person.new_conversation)
        finally:
            faults.close()
            crowd.leave()
    seconds = time.monotonic() - began
    _wait_until_quiet(product)

    print(*faults.seen.lines(), sep="\n")
    found = Agreement(product, readers, right, tokens_of)
    found.check_ledger()
    _check_reads(found, crowd.reads)
    found.check_batch(program, crowd.of(program))
    kept = _check_stored(people, crowd)
    money.check_derived(product)
    print(_summary(crowd.reads, found, seconds, kept, tab))
    return found


def _check_reads(found: Agreement, reads: Sequence[Read]) -> None:
    """All that differ are named: a run takes up to an hour."""
    different = []
    for read in reads:
        try:
            found.check_read(read)
        except AssertionError as error:
            different.append(error)
    if different:
        raise ExceptionGroup(f"{len(different)} of {len(reads)} answers differ", different)


def _check_stored(readers: Sequence[Reader], crowd: Crowd) -> Counter[str]:
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


def _wait_until_quiet(product: LaunchedProduct | Product) -> None:
    """Until every generation has ended, and its usage has gone all the way."""
    deadline = time.monotonic() + _QUIET_WITHIN_S

    def none_left(count: str) -> None:
        while left := product.rows(count)[0]["left"]:
            assert time.monotonic() < deadline, f"{left} left: {count}"
            time.sleep(0.2)

    none_left("SELECT count(*) AS left FROM generation_generation WHERE finished_at IS NULL")
    none_left("SELECT count(*) AS left FROM billing_outboxevent WHERE published_at IS NULL")
    if isinstance(product, Product):
        # What the broker has lost is found by beat under `make run`; this one has none.
        days = (f"{datetime.now(UTC) + timedelta(days=n):%Y-%m-%d}" for n in (-1, 2))
        product.manage("reconcile", "--from", next(days), "--to", next(days), "--repair")
    none_left(
        "SELECT count(*) AS left FROM billing_usagerecord r WHERE NOT EXISTS"
        " (SELECT 1 FROM billing_usageevent e WHERE e.event_id = r.generation_id)"
    )
    while httpx.get(f"{product.url}/readyz", timeout=10).status_code != 200:
        assert time.monotonic() < deadline, "the product is not ready again"
        time.sleep(0.2)


def _summary(
    reads: list[Read], found: Agreement, seconds: float, kept: Counter[str], tab: Tab
) -> str:
    pauses = sorted(read.pause_s for read in reads)
    doors = Counter(read.door for read in reads)
    states = Counter(row["state"] for row in found.rows.values())
    middle, late = statistics.median(pauses), pauses[len(pauses) * 99 // 100]
    lines = (
        f"{seconds:.0f} s; {len(reads)} answers {dict(doors)}; {dict(states)},"
        f" failed for {dict(found.reasons)}",
        f"{sum(len(read.text) for read in reads)} characters read, {found.equal} texts as they were"
        " before;"
        f" {sum(read.broken for read in reads)} broken connections;"
        f" the tab was opened {tab.connections} times",
        f"longest pause of an answer: median {middle:.1f} s, p99 {late:.1f} s,"
        f" max {pauses[-1]:.1f} s",
        f"asked again under their keys: {dict(kept)}",
    )
    return "\n".join(lines)
