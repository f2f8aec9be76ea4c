"""The running product before a scripted upstream, for what takes all of its processes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.users import Person, sign_up
from tests.support.product import Product
from tests.support.upstream import UpstreamThread


@pytest.fixture(scope="package")
def upstream() -> Iterator[UpstreamThread]:
    thread = UpstreamThread(rate=0)
    thread.start()
    yield thread
    thread.stop()
    thread.close()


@pytest.fixture(scope="package")
def product(scratch: Path, upstream: UpstreamThread) -> Iterator[Product]:
    product = Product(scratch / "conversations", engine_url=upstream.url, background=("worker",))
    try:
        product.start()
        yield product
    finally:
        product.stop()


@pytest.fixture
def person(product: Product) -> Iterator[Person]:
    user = sign_up(product.url)
    yield user
    user.browser.close()


def ask(person: Person, conversation: str, prompt: str) -> None:
    """Ask as the page does, and read the answer to its end."""
    answer = person.browser.post(
        f"/api/conversations/{conversation}/messages", json={"content": prompt}
    )
    assert answer.status_code == 200, answer.text
    assert "[DONE]" in answer.text
