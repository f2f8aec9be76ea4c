"""Where tool servers may be: what a refusal says, and that only one that answers is switched on."""

import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from backend.tools.mcp_client import tools_list
from backend.tools.types import Address, ToolFailed
from infra.services.ports import free_port
from tests.api.accounts import NewBrowser, new_user, signed_in
from tests.api.test_tools import TOKEN, allow_all, check, new_server
from tests.api.users import Person, sign_up
from tests.support.mcp_server import ToolServer
from tests.support.product import Product

SERVERS = "/api/organization/tool-servers"


@pytest.fixture
def owner(product: Product) -> Iterator[Person]:
    user = sign_up(product.url)
    yield user
    user.browser.close()


def dead_url() -> str:
    return f"http://127.0.0.1:{free_port()}/mcp"


def refused(answer: Any) -> dict[str, Any]:
    assert answer.status_code == 400, answer.text
    error: dict[str, Any] = answer.json()["error"]
    return error


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8931/mcp", "https://localhost/mcp", "https://[::1]/mcp"]
)
@pytest.mark.django_db(transaction=True)
async def test_private_address_names_its_switch(
    browser: NewBrowser, settings: Any, url: str
) -> None:
    settings.TOOLS_TO_PRIVATE = False
    client = await signed_in(browser, await new_user())
    made = await client.post(SERVERS, json={"name": "Weather", "url": url})
    search = {"provider": "searxng", "url": url}
    searched = await client.post("/api/organization/web-search", json=search)

    for answer, noun in ((made, "A tool server's URL"), (searched, "A search service's address")):
        error = refused(answer)
        assert error["code"] == "address_not_public"
        assert error["setting"] == "PARLEY_TOOLS_TO_PRIVATE"
        assert error["message"].startswith(noun)
        assert error["message"].endswith("set PARLEY_TOOLS_TO_PRIVATE=1.")


def test_server_is_off_until_it_answers(owner: Person, tool_server: ToolServer) -> None:
    server = new_server(owner, dead_url())
    unreached = check(owner, server)
    assert unreached["error"] and not unreached["enabled"]
    assert unreached["error_code"] == "tool_failed"

    moved = owner.browser.patch(f"{SERVERS}/{server['id']}", json={"url": tool_server.url})
    assert moved.status_code == 200, moved.text
    assert not moved.json()["enabled"]
    assert (moved.json()["error"], moved.json()["error_code"]) == ("", "")
    answered = check(owner, server)
    assert answered["enabled"] and not answered["error"] and answered["tools"]


def test_silent_server_has_a_code_of_its_own(settings: Any) -> None:
    settings.TOOLS_TO_PRIVATE, settings.TOOL_TIMEOUT_S = True, 0.5
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(ToolFailed) as failed:
        asyncio.run(tools_list(Address(f"http://127.0.0.1:{silent.getsockname()[1]}/mcp")))
    assert failed.value.code == "tool_timeout"


def test_server_that_was_switched_off_stays_off(owner: Person, tool_server: ToolServer) -> None:
    server = new_server(owner, tool_server.url)
    assert check(owner, server)["enabled"]
    owner.browser.patch(f"{SERVERS}/{server['id']}", json={"enabled": False})
    assert not check(owner, server)["enabled"]


def test_moved_server_keeps_neither_token_nor_permissions(
    owner: Person, tool_server: ToolServer
) -> None:
    server = new_server(owner, tool_server.url)
    allow_all(owner, server)
    path = f"{SERVERS}/{server['id']}"
    moved = owner.browser.patch(path, json={"url": dead_url()}).json()
    assert (moved["has_token"], moved["enabled"], moved["tools"]) == (False, False, [])

    back = {"url": tool_server.url, "token": TOKEN}
    assert owner.browser.patch(path, json=back).json()["has_token"] is True
    assert not any(tool["allowed"] for tool in check(owner, server)["tools"])


def test_dead_search_is_not_offered(owner: Person) -> None:
    search = {"provider": "searxng", "url": dead_url()}
    made = owner.browser.post("/api/organization/web-search", json=search)
    assert made.status_code == 201, made.text
    unreached = check(owner, made.json())
    assert unreached["error"].startswith("Search service error")
    assert not unreached["enabled"]
    assert owner.browser.get("/api/me/tools").json()["web_search"] is False
