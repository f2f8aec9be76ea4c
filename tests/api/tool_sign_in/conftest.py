"""An authorization server, a tool server behind it, and the owner of an organization."""

from collections.abc import Iterator

import pytest

from tests.api.users import Person, sign_up
from tests.support.mcp_server import ToolServer
from tests.support.oauth_server import AuthorizationServer
from tests.support.scripted import ScriptedProduct


@pytest.fixture(scope="package")
def accounts() -> Iterator[AuthorizationServer]:
    server = AuthorizationServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="package")
def trips(accounts: AuthorizationServer) -> Iterator[ToolServer]:
    server = ToolServer(accounts)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def owner(
    scripted_product: ScriptedProduct, accounts: AuthorizationServer, trips: ToolServer
) -> Iterator[Person]:
    accounts.metadata = dict(accounts.honest)
    accounts.provider.life_s = 3600.0
    trips.called.clear()
    trips.seen_tokens.clear()
    scripted_product.says("Have a good trip.")
    person = sign_up(scripted_product.url)
    yield person
    scripted_product.calls()
    person.browser.close()
