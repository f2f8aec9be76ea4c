"""A product of the test's own, with a synthetic upstream, to be killed part by part."""

import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar
from uuid import UUID

import pytest

from infra.load.upstream import words
from tests.api.people import Person, sign_up
from tests.chaos.reader import Wire, read_stream
from tests.support.launched import LaunchedProduct
from tests.support.product import Product
from tests.support.upstream import UpstreamThread

ANSWER_TOKENS = 64


@pytest.fixture
def upstream() -> Iterator[UpstreamThread]:
    """Twenty tokens a second: an answer of `ANSWER_TOKENS` takes three seconds."""
    thread = UpstreamThread(rate=20.0)
    thread.start()
    yield thread
    thread.stop()
    thread.close()


@dataclass
class Asked:
    """An answer that is read in the background."""

    wire: Wire

    @property
    def generation_id(self) -> UUID:
        return UUID(self.wire.chunks[0]["parley"]["generation_id"])


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

    def check_books(self, generation_id: UUID, wire: Wire, *, state: str = "completed") -> None:
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


@pytest.fixture
def start_site(scratch: Path, upstream: UpstreamThread) -> Iterator[Callable[..., Site[Product]]]:
    """Starts a product (options: `Product`) and signs somebody up."""
    sites: list[Site[Product]] = []

    def start(**options: Any) -> Site[Product]:
        directory = Path(tempfile.mkdtemp(dir=scratch))
        directory.chmod(0o711)
        settings = {"PARLEY_GENERATION_LEASE_S": "2", **options.pop("settings", {})}
        product = Product(
            directory,
            engine_url=upstream.url,
            settings=settings,
            **{"webs": 1, "background": (), **options},
        )
        try:
            product.start()
        except BaseException:
            product.stop()
            raise
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
