"""A hundred kills close together, under readers at every door; then not a character is missing.

`make chaos-doors` does the same to what `make run` starts, with the real engine.
"""

import os
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import psycopg
import pytest

from infra.load.upstream import words
from tests.chaos.conftest import BACKGROUND, MAX_WEBS, Site
from tests.chaos.doors.faults import RandomFaults
from tests.chaos.doors.keeper import Keeper
from tests.chaos.doors.readers import MAX_TOKENS, PROMPTS, Reader
from tests.chaos.doors.run import hit_under_readers
from tests.support.processes import ProductProcess
from tests.support.product import Product

SEED = int(os.environ.get("PARLEY_CHAOS_SEED", "1"))
# Whoever comes while PostgreSQL is away waits for it: more readers would only wait too.
READERS = 5
HITS = int(os.environ.get("PARLEY_CHAOS_KILLS", "100"))
_AT_ONCE = 5
_TOKENS_PER_SECOND = 100

# Between its row and its lease: Redis was away, and the caller was told so, or its process died.
MAY_FAIL_FOR = {"overloaded before it ran", "lost before it ran"}

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(900)]


@pytest.fixture
def site(start_site: Callable[..., Site[Product]]) -> Iterator[Site[Product]]:
    """Database and Valkey keep what they have acknowledged, as under `make run`, and no plan is
    in the way."""
    site = start_site(webs=MAX_WEBS, background=BACKGROUND)
    limits = "requests_per_minute, tokens_per_minute, concurrent_generations"
    plans = site.product.rows(f"SELECT slug, {limits} FROM accounts_plan")
    _execute(site.product, "ALTER DATABASE parley SET synchronous_commit = on")
    _execute(site.product, f"UPDATE accounts_plan SET ({limits}) = (100000, 100000000, 1000)")
    postgres, valkey = map(site.product.services.service, ("DATABASE_URL", "REDIS_URL"))
    assert postgres is not None and valkey is not None
    valkey.durable = True
    for service in (postgres, valkey):
        service.stop()  # connections that are open would keep the setting that they had
        service.start()
    for web in site.product.webs:
        site.product.wait_until_ready(web)
    yield site
    valkey.durable = False
    site.product.bring_to(webs=MAX_WEBS)
    for plan in plans:
        update = f"UPDATE accounts_plan SET ({limits}) = (%s, %s, %s) WHERE slug = %s"
        slug, *values = plan.values()
        _execute(site.product, update, *values, slug)
    _execute(site.product, "ALTER DATABASE parley RESET synchronous_commit")


@pytest.fixture
def engine(site: Site[Product]) -> Iterator[ProductProcess]:
    """The synthetic engine as a process, where the tests' own was."""
    port = urlsplit(site.upstream.url).port
    command = f"python -m infra.load.upstream --port {port} --rate {_TOKENS_PER_SECOND}"
    process = ProductProcess(
        "engine", command, site.product.environment, site.product.directory / "engine.log"
    )
    site.upstream.stop()
    process.start()
    yield process
    process.kill()
    site.upstream.start()


@pytest.fixture
def readers(site: Site[Product]) -> Iterator[list[Reader]]:
    made = [Reader(site.product.urls, SEED * 1000 + number) for number in range(READERS + 1)]
    yield made
    for reader in made:
        reader.close()


def test_every_character_is_delivered_stored_and_billed_under_random_kills(
    site: Site[Product], engine: ProductProcess, readers: list[Reader]
) -> None:
    print(f"seed {SEED} (PARLEY_CHAOS_SEED)")
    keeper = Keeper(site.product, engine, BACKGROUND)
    found = hit_under_readers(
        site.product,
        readers,
        lambda crowd: RandomFaults(
            keeper.targets,
            crowd,
            SEED,
            at_once=_AT_ONCE,
            left_frozen_part=0.0,
            mend=keeper.mend,
        ),
        HITS,
        right={
            (kind, prompt): words(0, MAX_TOKENS) for kind in ("page", "api") for prompt in PROMPTS
        },
        tokens_of=lambda text: len(text.split()),
    )
    assert found.equal == found.checked, "each text is the beginning of the right one"
    assert set(found.reasons) <= MAY_FAIL_FOR


def _execute(product: Product, statement: str, *parameters: object) -> None:
    with psycopg.connect(product.environment["DATABASE_URL"]) as connection:
        connection.execute(statement.encode(), parameters)
