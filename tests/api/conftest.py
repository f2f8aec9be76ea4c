"""One product for all tests of the API; a test that breaks it starts one of its own."""

from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.api.users import Person, program, sign_up
from tests.support.product import Product


@pytest.fixture(scope="session")
def product(live_product: Product) -> Product:
    return live_product


@pytest.fixture(scope="session")
def person(product: Product) -> Iterator[Person]:
    """A signed-in person. Tests that change them sign up their own."""
    user = sign_up(product.url)
    yield user
    user.browser.close()


@pytest.fixture
def new_person(product: Product) -> Iterator[Callable[[], Person]]:
    people: list[Person] = []

    def make() -> Person:
        people.append(sign_up(product.url))
        return people[-1]

    yield make
    for user in people:
        user.browser.close()


@pytest.fixture(scope="session")
def key(person: Person) -> str:
    """An unrestricted API key of `person`."""
    return str(person.new_key()["secret"])


@pytest.fixture
def api_client(product: Product, key: str) -> Iterator[httpx.Client]:
    with program(product.url, key) as client:
        yield client
