"""An assistant names the tools that its chats use."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.test_tools import allow_all, ask, check, new_server
from tests.api.users import Person, sign_up
from tests.support.mcp_server import ToolServer
from tests.support.scripted import ScriptedProduct


@pytest.fixture(scope="module")
def server() -> Iterator[ToolServer]:
    running = ToolServer()
    running.start()
    yield running
    running.stop()


@pytest.fixture
def owner(scripted_product: ScriptedProduct, server: ToolServer) -> Iterator[Person]:
    scripted_product.says("Fine.")
    user = sign_up(scripted_product.url)
    yield user
    user.browser.close()


def named(server_id: str, *names: str) -> list[dict[str, str]]:
    return [{"server_id": server_id, "name": name} for name in names]


def made(person: Person, **body: Any) -> dict[str, Any]:
    answer = person.browser.post("/api/assistants", json={"name": "Weather", **body})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def offered(person: Person, product: ScriptedProduct, assistant: str) -> list[str]:
    """Names of the tools that a chat with the assistant offers, as their server has them."""
    before = len(product.bodies)
    ask(person, person.new_conversation(assistant_id=assistant))
    tools = product.bodies[before].get("tools", [])
    return sorted(tool["function"]["name"].split("_")[1] for tool in tools)


def test_assistant_offers_what_it_names_and_nothing_else(
    owner: Person, scripted_product: ScriptedProduct, server: ToolServer
) -> None:
    added = new_server(owner, server.url)["id"]
    allow_all(owner, {"id": added})
    invitation = owner.new_invitation(role="member")["url"].partition("#")[2]
    member = sign_up(scripted_product.url, invitation=invitation)
    usable = member.browser.get("/api/assistants/tools").json()["data"]
    assert {"forecast", "book"} <= {tool["name"] for tool in usable}

    assistant = made(owner, tools=named(added, "forecast", "book"), seen_by=["member"])
    assert [tool["name"] for tool in assistant["tools"]] == ["forecast", "book"]
    # To choose it is to switch them on, for whoever it is shared with.
    assert offered(member, scripted_product, assistant["id"]) == ["book", "forecast"]
    # Others of what the person has switched on are not its own.
    member.browser.put(f"/api/me/tools/{added}", json={"on": True})
    assert offered(member, scripted_product, assistant["id"]) == ["book", "forecast"]
    path = f"/api/assistants/{assistant['id']}"
    assert member.browser.patch(path, json={"tools": []}).status_code == 403
    assert owner.browser.patch(path, json={"name": "Skies"}).json()["tools"] != []
    owner.browser.patch(path, json={"tools": named(added, "forecast")})
    assert offered(member, scripted_product, assistant["id"]) == ["forecast"]
    copy = member.browser.post(f"{path}/duplicate").json()
    assert [tool["name"] for tool in copy["tools"]] == ["forecast"]
    owner.browser.patch(path, json={"tools": []})
    assert offered(member, scripted_product, assistant["id"]) == []
    assert owner.browser.patch(path, json={"tools": None}).json()["tools"] is None
    assert "forecast" in offered(member, scripted_product, assistant["id"])

    # What a manager does not allow any more is not offered, whoever names it.
    rules = [{"name": "forecast", "allowed": False, "needs_approval": True}]
    owner.browser.patch(f"/api/organization/tool-servers/{added}", json={"tools": rules})
    assert offered(member, scripted_product, copy["id"]) == []
    member.browser.close()


def test_assistant_names_no_tool_of_another_organization(
    owner: Person, scripted_product: ScriptedProduct, server: ToolServer
) -> None:
    outsider = sign_up(scripted_product.url)
    theirs = new_server(outsider, server.url)["id"]
    allow_all(outsider, {"id": theirs})
    mine = new_server(owner, server.url)["id"]
    check(owner, {"id": mine})
    for tools in (named(theirs, "forecast"), named(mine, "forecast"), named(mine, "none")):
        answer = owner.browser.post("/api/assistants", json={"name": "Weather", "tools": tools})
        assert answer.status_code == 400, answer.text
        assert answer.json()["error"]["param"] == "tools"
    assert owner.browser.get("/api/assistants").json()["data"] == []
    outsider.browser.close()
