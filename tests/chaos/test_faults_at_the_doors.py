"""`make run` under real traffic while everything in it dies; then not a character is missing."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.chaos.doors.agreement import counted_by, kind_of
from tests.chaos.doors.faults import RandomFaults
from tests.chaos.doors.readers import MAX_TOKENS, PROMPTS, Reader
from tests.chaos.doors.run import hit_under_readers
from tests.chaos.doors.targets import targets_of
from tests.support.launched import LaunchedProduct
from tests.support.model_sources import launched

SEED = int(os.environ.get("PARLEY_CHAOS_SEED", "1"))
KILLS = int(os.environ.get("PARLEY_CHAOS_KILLS", "0"))
AT_ONCE = int(os.environ.get("PARLEY_CHAOS_AT_ONCE", "3"))
"""Roles that are down at a time, at most, of thirteen: more of them are more hits a minute, and
answers that take longer than their readers wait."""
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
    engine = product.environment["PARLEY_ENGINE_URL"], product.environment["PARLEY_ENGINE_API_KEY"]
    hit_under_readers(
        product,
        readers,
        lambda crowd: RandomFaults(targets_of(product), crowd, SEED, at_once=AT_ONCE),
        KILLS,
        right=_right_answers(readers[0]),
        tokens_of=counted_by(*engine),
    )


def _right_answers(reader: Reader) -> dict[tuple[str, str], str]:
    """Of each prompt, at the page and at the API, as long as any will be asked for."""
    right = {}
    for prompt in PROMPTS:
        for door in ("page", "client"):
            [read] = reader.ask(door, prompt=prompt, tokens=MAX_TOKENS)
            assert read.text and not read.failed
            right[kind_of(door), prompt] = read.text
    return right
