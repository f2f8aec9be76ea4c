"""A product with a synthetic upstream, to be killed part by part.

One stands for all tests that take it as it is: what the test before has killed is brought back.
A test with settings of its own gets a product of its own.
"""

import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar
from uuid import UUID

import pytest

from infra.load.upstream import words
from tests.api.users import Person, sign_up
from tests.chaos.reader import Wire, read_stream
from tests.support.launched import LaunchedProduct
from tests.support.product import Product
from tests.support.upstream import UpstreamThread

ANSWER_TOKENS = 64
# So many events of an answer.
BEGUN = 12


# Answers of `ANSWER_TOKENS` take three seconds.
TOKENS_PER_SECOND = 20.0
MAX_WEBS = 2
BACKGROUND = ("worker", "relay", "aggregator")
# Leases that lapse while a test waits, and a soon end for who is told to go.
SETTINGS = {"PARLEY_GENERATION_LEASE_S": "2", "PARLEY_DRAIN_S": "1"}


@pytest.fixture(scope="package")
def standing_upstream() -> Iterator[UpstreamThread]:
    thread = UpstreamThread(rate=TOKENS_PER_SECOND)
    thread.start()
    yield thread
    thread.stop()
    thread.close()


@pytest.fixture
def upstream(standing_upstream: UpstreamThread) -> UpstreamThread:
    standing_upstream.begin_anew(rate=TOKENS_PER_SECOND)
    return standing_upstream


@pytest.fixture(scope="package")
def standing_product(scratch: Path, standing_upstream: UpstreamThread) -> Iterator[Product]:
    """Every process that a test may ask for; `bring_to` leaves those that it wants."""
    product = new_product(
        scratch, standing_upstream, webs=MAX_WEBS, background=BACKGROUND, settings=SETTINGS
    )
    yield product
    product.stop()


@dataclass
class Asked:
    """An answer that is read in the background."""

    wire: Wire

    @property
    def generation_id(self) -> UUID:
        return UUID(self.wire.chunks[0]["parley"]["generation_id"])

    def has_begun(self) -> None:
        """Wait until some words have come, and most have not."""
        deadline = time.monotonic() + 60
        while len(self.wire.events) < BEGUN:
            assert time.monotonic() < deadline, self.wire
            time.sleep(0.02)


Running = TypeVar("Running", Product, LaunchedProduct)


@dataclass
class Site(Generic[Running]):
    """A running product and somebody who uses it."""

    product: Running
    upstream: UpstreamThread
    person: Person

    def ask(self, wire: Wire, *, until: int | None = None, web: int = 0) -> UUID:
        """Ask on the page at one web process; read until `until` events are there."""
        conversation = self.person.new_conversation()
        url = f"{self.product.urls[web]}/api/conversations/{conversation}/messages"
        browser = self.person.browser
        with browser.stream("POST", url, json={"content": "Say words."}) as response:
            assert response.status_code == 200, response.read()
            read_stream(response, wire, until=until)
        return UUID(wire.chunks[0]["parley"]["generation_id"])

    @contextmanager
    def asking(self) -> Iterator[Asked]:
        """Ask, and read the answer while the block runs; it has ended after the block.

        The test's own thread stays free to kill and start: what it starts lives as long as
        the thread that started it.
        """
        asked = Asked(Wire())
        reader = threading.Thread(target=self.ask, args=[asked.wire])
        reader.start()
        try:
            yield asked
        finally:
            reader.join()

    def resume(self, generation_id: UUID, wire: Wire, *, web: int = 0) -> None:
        """Come back for the events after the last one that `wire` has."""
        url = f"{self.product.urls[web]}/api/generations/{generation_id}/events"
        headers = {"Last-Event-ID": str(wire.last_id)}
        with self.person.browser.stream("GET", url, headers=headers) as response:
            assert response.status_code == 200, response.read()
            read_stream(response, wire)

    def check_accounts(self, generation_id: UUID, wire: Wire, *, state: str = "completed") -> None:
        """Delivered, stored and billed are the same; each is there once."""
        [row] = self.product.rows(
            "SELECT g.state, g.output_tokens, m.text, m.status, u.output_tokens AS billed"
            " FROM generation_generation g"
            " JOIN conversations_message m ON m.id = g.message_id"
            " JOIN billing_usagerecord u ON u.generation_id = g.id"
            " WHERE g.id = %s",
            [generation_id],
        )
        assert row["text"] == wire.text
        assert row["state"] == row["status"] == state
        assert row["output_tokens"] == row["billed"] == len(wire.text.split())


def new_product(scratch: Path, upstream: UpstreamThread, **options: Any) -> Product:
    directory = Path(tempfile.mkdtemp(dir=scratch))
    directory.chmod(0o711)
    product = Product(directory, engine_url=upstream.url, **options)
    try:
        product.start()
    except BaseException:
        product.stop()
        raise
    return product


@pytest.fixture
def start_site(
    request: pytest.FixtureRequest, upstream: UpstreamThread
) -> Iterator[Callable[..., Site[Product]]]:
    """Somebody new at the product that stands, with so many web processes and these others."""
    sites: list[Site[Product]] = []

    def start(*, webs: int = 1, background: Sequence[str] = ()) -> Site[Product]:
        product: Product = request.getfixturevalue("standing_product")
        product.bring_to(webs=webs, background=background)
        sites.append(Site(product, upstream, sign_up(product.url)))
        return sites[-1]

    yield start
    for site in sites:
        site.person.browser.close()


@pytest.fixture
def own_site(
    scratch: Path, upstream: UpstreamThread
) -> Iterator[Callable[[dict[str, str]], Site[Product]]]:
    """Somebody at a product of the test's own, with these settings; one web process."""
    sites: list[Site[Product]] = []

    def start(settings: dict[str, str]) -> Site[Product]:
        product = new_product(scratch, upstream, background=(), settings={**SETTINGS, **settings})
        sites.append(Site(product, upstream, sign_up(product.url)))
        return sites[-1]

    yield start
    for site in sites:
        site.person.browser.close()
        site.product.stop()


def whole_answer(wire: Wire) -> None:
    """All the words of the answer, byte for byte."""
    wire.check()
    assert wire.text == words(0, ANSWER_TOKENS)
