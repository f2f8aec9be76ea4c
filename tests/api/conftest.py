"""One product for all tests of the API; a test that breaks it starts one of its own."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest

from tests.api.accounts import NewBrowser
from tests.api.asgi_client import AsgiClient
from tests.api.users import Person, program, sign_up
from tests.support.mcp_server import ToolServer
from tests.support.product import Product


@pytest.fixture
def private_providers(settings: Any) -> None:
    """Allow identity providers at private addresses, such as those that tests start."""
    settings.SSO_TO_PRIVATE = True


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


@pytest.fixture
async def browser() -> AsyncIterator[NewBrowser]:
    """Opens browsers, each with cookies of its own and at an address of its own."""
    async with AsyncExitStack() as stack:
        number = 0

        async def new() -> AsgiClient:
            nonlocal number
            number += 1
            client = await stack.enter_async_context(AsgiClient(f"198.51.100.{number}"))
            await client.get("/")
            return client

        yield new


@pytest.fixture(scope="module")
def tool_server() -> Iterator[ToolServer]:
    """An MCP server of one module's tests, which say how it behaves."""
    server = ToolServer()
    server.start()
    yield server
    server.stop()
