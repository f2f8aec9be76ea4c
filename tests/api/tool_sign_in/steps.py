"""What a person does to sign in at a tool server, and with what they get."""

from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.api.test_tools import allow_all, answered, ask, calls_of, new_server
from tests.api.users import Person, sign_up
from tests.support.mcp_server import ToolServer
from tests.support.scripted import ScriptedProduct


def add(owner: Person, trips: ToolServer, auth: str = "oauth_person", **more: Any) -> str:
    server = new_server(owner, trips.url, auth=auth, token="", **more)
    return str(server["id"])


def begin(person: Person, server_id: str, page: str = "settings") -> httpx.Response:
    return person.browser.post(f"/api/tool-servers/{server_id}/connection", json={"page": page})


def at_their_page(url: str, account: str | None = "ada@trips.example") -> str:
    """What the authorization server sends the browser back with."""
    with httpx.Client() as there:
        page = there.get(url, follow_redirects=True)
        assert page.status_code == 200, page.text
        decision = {"account": account or "", "say": "yes" if account else "no"}
        return there.post(page.url, data=decision).headers["Location"]


def come_back(person: Person, answer: str) -> str:
    """Where the answer leads: a page of ours."""
    parts = urlsplit(answer)
    reply = person.browser.get(f"{parts.path}?{parts.query}", follow_redirects=False)
    assert reply.status_code == 302, reply.text
    return reply.headers["Location"]


def connect(person: Person, server_id: str, account: str = "ada@trips.example") -> None:
    begun = begin(person, server_id)
    assert begun.status_code == 200, begun.text
    outcome = come_back(person, at_their_page(begun.json()["url"], account))
    assert outcome == "/settings?tool_sign_in=connected"


def mine(person: Person, server_id: str) -> dict[str, Any]:
    servers = person.browser.get("/api/me/tools").json()["servers"]
    [found] = [one for one in servers if one["id"] == server_id]
    return dict(found["connection"])


def use(person: Person, server_id: str) -> None:
    switched = person.browser.put(f"/api/me/tools/{server_id}", json={"on": True})
    assert switched.status_code == 204, switched.text


def allowed(owner: Person, server_id: str) -> None:
    connect(owner, server_id)
    allow_all(owner, {"id": server_id})
    use(owner, server_id)


def who_calls(person: Person, product: ScriptedProduct) -> dict[str, Any]:
    product.calls(("whoami", "{}"))
    conversation = person.new_conversation()
    ask(person, conversation)
    answered(person, conversation)
    [call] = calls_of(person, conversation)
    return call


def colleague_of(owner: Person, url: str) -> Person:
    invitation = owner.new_invitation(role="member")["url"].partition("#")[2]
    return sign_up(url, invitation=invitation)
