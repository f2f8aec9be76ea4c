"""Signing in at a tool server, against a real authorization server; and those who attack that."""

import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.api.test_tool_discovery import documents
from tests.api.test_tools import (
    allow_all,
    answered,
    ask,
    calls_of,
    check,
    new_server,
)
from tests.api.users import Person, sign_up
from tests.support.mcp_server import ToolServer
from tests.support.oauth_server import AuthorizationServer
from tests.support.scripted import ScriptedProduct

CLIENT = {"client_id": "given", "client_secret": "given-secret"}


@pytest.fixture(scope="module")
def accounts() -> Iterator[AuthorizationServer]:
    server = AuthorizationServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
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


def test_person_signs_in_and_calls_as_themself(
    owner: Person,
    scripted_product: ScriptedProduct,
    trips: ToolServer,
    accounts: AuthorizationServer,
) -> None:
    server = add(owner, trips)
    assert "Connect first" in check(owner, {"id": server})["error"]
    begun = begin(owner, server).json()["url"]
    asked = parse_qs(urlsplit(begun).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["resource"] == [trips.url]
    assert asked["scope"] == ["trips"]
    assert asked["redirect_uri"][0].endswith(f"/api/tool-servers/{server}/callback")
    assert come_back(owner, at_their_page(begun)) == "/settings?tool_sign_in=connected"
    allow_all(owner, {"id": server})
    use(owner, server)
    shown = mine(owner, server)
    assert (shown["state"], shown["account"]) == ("connected", "ada@trips.example")
    call = who_calls(owner, scripted_product)
    assert (call["status"], call["result"]) == ("done", "ada@trips.example")
    family = accounts.provider.families[-1]
    secrets = [*family.accesses, family.refresh]
    stored = scripted_product.rows("SELECT encrypted_tokens FROM tools_toolconnection")
    seen = owner.browser.get("/api/organization/tool-servers").text
    seen += owner.browser.get("/api/me/tools").text + owner.browser.get("/api/audit-log").text
    for secret in secrets:
        assert secret not in str(stored)
        assert secret not in seen


def test_token_is_renewed_once_for_calls_at_once(
    owner: Person,
    scripted_product: ScriptedProduct,
    trips: ToolServer,
    accounts: AuthorizationServer,
) -> None:
    """The authorization server ends a sign-in whose refresh token comes twice."""
    server = add(owner, trips)
    accounts.provider.life_s = 1.0  # sooner than any token is let run
    allowed(owner, server)
    accounts.provider.life_s = 3600.0
    before = accounts.provider.refreshed
    scripted_product.calls(*[("whoami", "{}")] * 4)
    conversation = owner.new_conversation()
    ask(owner, conversation)
    answered(owner, conversation)
    calls = calls_of(owner, conversation)
    assert [call["result"] for call in calls] == ["ada@trips.example"] * 4
    assert accounts.provider.refreshed == before + 1
    assert mine(owner, server)["state"] == "connected"


def test_token_that_the_server_refuses_early_is_renewed(
    owner: Person,
    scripted_product: ScriptedProduct,
    trips: ToolServer,
    accounts: AuthorizationServer,
) -> None:
    server = add(owner, trips)
    allowed(owner, server)
    accounts.provider.families[-1].accesses.clear()
    assert who_calls(owner, scripted_product)["result"] == "ada@trips.example"


def test_ended_sign_in_is_expired_and_its_tools_are_offered_no_more(
    owner: Person,
    scripted_product: ScriptedProduct,
    trips: ToolServer,
    accounts: AuthorizationServer,
) -> None:
    server = add(owner, trips)
    allowed(owner, server)
    accounts.provider.end_all()
    call = who_calls(owner, scripted_product)
    assert call["status"] == "failed"
    assert "sign in" in call["result"]
    shown = mine(owner, server)
    assert shown["state"] == "expired"
    assert "invalid_grant" in shown["error"]
    ask(owner, owner.new_conversation())
    assert "tools" not in scripted_product.bodies[-1]
    connect(owner, server)
    assert who_calls(owner, scripted_product)["status"] == "done"


def test_disconnecting_revokes_and_forgets(
    owner: Person,
    scripted_product: ScriptedProduct,
    trips: ToolServer,
    accounts: AuthorizationServer,
) -> None:
    server = add(owner, trips)
    allowed(owner, server)
    gone = owner.browser.delete(f"/api/tool-servers/{server}/connection")
    assert gone.status_code == 204
    assert mine(owner, server)["state"] == "not_connected"
    assert accounts.provider.families[-1].is_revoked
    actions = [event["action"] for event in owner.browser.get("/api/audit-log").json()["data"]]
    assert {"tool_server.connected", "tool_server.disconnected"} <= set(actions)


def test_refusal_is_shown_and_is_no_redirect_of_theirs(owner: Person, trips: ToolServer) -> None:
    server = add(owner, trips)
    begun = begin(owner, server, page="organization").json()["url"]
    answer = at_their_page(begun, account=None)
    outcome = come_back(owner, f"{answer}&next=https://evil.example&page=//evil.example")
    assert outcome == "/organization/tools?tool_sign_in=refused"
    listed = owner.browser.get("/api/organization/tool-servers").json()["data"]
    [shown] = (one for one in listed if one["id"] == server)
    assert shown["connection"]["state"] == "refused"
    assert "access_denied" in shown["connection"]["error"]


def test_page_of_another_site_cannot_be_come_back_to(owner: Person, trips: ToolServer) -> None:
    server = add(owner, trips)
    for page in ("https://evil.example", "//evil.example", "/x"):
        assert begin(owner, server, page=page).status_code == 400


def test_answer_without_the_right_state_is_refused(owner: Person, trips: ToolServer) -> None:
    server = add(owner, trips)
    answer = at_their_page(begin(owner, server).json()["url"])
    parts = urlsplit(answer)
    code = parse_qs(parts.query)["code"][0]
    for state in ("", "guessed", "a" * 43):
        outcome = come_back(owner, f"{parts.path}?code={code}&state={state}")
        assert outcome == "/settings?tool_sign_in=unknown"
    assert come_back(owner, answer).endswith("=connected")
    assert come_back(owner, answer).endswith("=unknown"), "an answer counts once"


def test_answer_in_another_persons_browser_is_refused(
    owner: Person, scripted_product: ScriptedProduct, trips: ToolServer
) -> None:
    """An attacker lets a victim's browser come back with the attacker's own account."""
    server = add(owner, trips)
    victim = colleague_of(owner, scripted_product.url)
    answer = at_their_page(begin(owner, server).json()["url"], "attacker@trips.example")
    assert come_back(victim, answer) == "/settings?tool_sign_in=unknown"
    begun = begin(victim, server)
    assert begun.status_code == 200
    outsider = sign_up(scripted_product.url)
    parts = urlsplit(at_their_page(begun.json()["url"]))
    elsewhere = outsider.browser.get(f"{parts.path}?{parts.query}", follow_redirects=False)
    assert elsewhere.status_code == 404
    rows = scripted_product.rows(
        "SELECT state FROM tools_toolconnection WHERE server_id = %s", [server]
    )
    assert rows == []
    victim.browser.close()
    outsider.browser.close()


def test_code_of_another_server_is_not_exchanged(
    owner: Person, trips: ToolServer, accounts: AuthorizationServer
) -> None:
    """Mix-up: an honest server's code comes back as if it were the answer of a dishonest one."""
    dishonest = AuthorizationServer()
    dishonest.start()
    other = ToolServer(dishonest)
    other.start()
    server, evil = add(owner, trips), add(owner, other, name="Evil")
    honest_answer = urlsplit(at_their_page(begin(owner, server).json()["url"]))
    evil_state = parse_qs(urlsplit(begin(owner, evil).json()["url"]).query)["state"][0]
    honest = parse_qs(honest_answer.query)
    code, issuer = honest["code"][0], honest["iss"][0]
    evil_path = f"/api/tool-servers/{evil}/callback"
    # The honest code at the dishonest server's address: the answer names who gave it.
    outcome = come_back(owner, f"{evil_path}?code={code}&state={evil_state}&iss={issuer}")
    assert outcome == "/settings?tool_sign_in=failed"
    # Without its name: the dishonest server says that it always gives one.
    evil_state = parse_qs(urlsplit(begin(owner, evil).json()["url"]).query)["state"][0]
    outcome = come_back(owner, f"{evil_path}?code={code}&state={evil_state}")
    assert outcome == "/settings?tool_sign_in=failed"
    # Its state at the honest server's address, which is another one.
    evil_state = parse_qs(urlsplit(begin(owner, evil).json()["url"]).query)["state"][0]
    outcome = come_back(owner, f"{honest_answer.path}?code={code}&state={evil_state}")
    assert outcome == "/settings?tool_sign_in=unknown"
    assert dishonest.provider.families == []
    assert code in accounts.provider.codes, "nobody has spent it"
    other.stop()
    dishonest.stop()


@pytest.mark.parametrize(
    ("lie", "why"),
    [
        ({"issuer": "https://accounts.example"}, "calls itself"),
        ({"code_challenge_methods_supported": ["plain"]}, "PKCE"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "metadata of an authorization"),
        ({"token_endpoint": "ftp://127.0.0.1/token"}, "metadata of an authorization"),
        ({"token_endpoint_auth_methods_supported": ["private_key_jwt"]}, "offers none"),
    ],
    ids=["issuer", "pkce", "script", "no-web", "no-method"],
)
def test_authorization_server_that_lies_is_a_clear_error(
    owner: Person,
    trips: ToolServer,
    accounts: AuthorizationServer,
    lie: dict[str, Any],
    why: str,
) -> None:
    server = add(owner, trips)
    accounts.metadata = {**accounts.honest, **lie}
    answer = begin(owner, server)
    assert answer.status_code == 502, answer.text
    error = answer.json()["error"]
    assert error["code"] == "tool_sign_in_failed"
    assert why in error["message"]


def test_given_client_is_used_and_never_at_another_server(
    owner: Person, trips: ToolServer, accounts: AuthorizationServer
) -> None:
    accounts.metadata = {
        name: value for name, value in accounts.honest.items() if name != "registration_endpoint"
    }
    server = add(owner, trips)
    needed = begin(owner, server)
    assert needed.status_code == 400
    assert needed.json()["error"]["code"] == "tool_client_needed"
    path = f"/api/organization/tool-servers/{server}"
    shown = owner.browser.patch(path, json={"client": CLIENT})
    assert shown.status_code == 200, shown.text
    assert CLIENT["client_secret"] not in shown.text
    asked = parse_qs(urlsplit(begin(owner, server).json()["url"]).query)
    assert asked["client_id"] == ["given"]
    # The tool server's metadata name another authorization server now.
    elsewhere = AuthorizationServer()
    elsewhere.start()
    named = trips.url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp")
    trips.answers_as = documents(trips.url, named, [elsewhere.url])
    changed = begin(owner, server)
    trips.answers_as = None
    assert changed.status_code == 409
    assert changed.json()["error"]["code"] == "tool_issuer_changed"
    elsewhere.stop()


def test_manager_signs_in_for_all_and_members_may_not(
    owner: Person, scripted_product: ScriptedProduct, trips: ToolServer
) -> None:
    server = add(owner, trips, auth="oauth_organization")
    connect(owner, server, "office@trips.example")
    allow_all(owner, {"id": server})
    member = colleague_of(owner, scripted_product.url)
    assert begin(member, server).status_code == 403
    path = f"/api/tool-servers/{server}/connection"
    assert member.browser.delete(path).status_code == 403
    use(member, server)
    assert who_calls(member, scripted_product)["result"] == "office@trips.example"
    member.browser.close()


def test_token_of_one_person_or_organization_is_never_sent_for_another(
    owner: Person, scripted_product: ScriptedProduct, trips: ToolServer
) -> None:
    server = add(owner, trips)
    allowed(owner, server)
    colleague = colleague_of(owner, scripted_product.url)
    use(colleague, server)
    assert mine(colleague, server)["state"] == "not_connected"
    ask(colleague, colleague.new_conversation())
    assert "tools" not in scripted_product.bodies[-1]
    # Another organization at the same tool server, with the same name.
    outsider = sign_up(scripted_product.url)
    theirs = add(outsider, trips)
    trips.seen_tokens.clear()
    assert "Connect first" in check(outsider, {"id": theirs})["error"]
    begun = begin(outsider, server)
    assert begun.status_code == 404
    ask(outsider, outsider.new_conversation())
    assert "tools" not in scripted_product.bodies[-1]
    assert not any(trips.seen_tokens), trips.seen_tokens
    allowed(outsider, theirs)
    assert who_calls(outsider, scripted_product)["result"] == "ada@trips.example"
    # Who leaves the organization leaves their tokens behind, and those are gone.
    connect(colleague, server, "bob@trips.example")
    user = colleague.me["user"]["id"]
    choice = {"chats": "keep", "keys": "revoke"}
    left = owner.browser.post(f"/api/organization/members/{user}/remove", json=choice)
    assert left.status_code == 204, left.text
    rows = scripted_product.rows(
        "SELECT user_id FROM tools_toolconnection WHERE server_id = %s", [server]
    )
    assert user not in {str(row["user_id"]) for row in rows}
    colleague.browser.close()
    outsider.browser.close()


def test_member_without_a_session_is_not_let_in_by_an_answer(
    owner: Person, scripted_product: ScriptedProduct, trips: ToolServer
) -> None:
    server = add(owner, trips)
    answer = urlsplit(at_their_page(begin(owner, server).json()["url"]))
    with httpx.Client(base_url=scripted_product.url) as anonymous:
        reply = anonymous.get(f"{answer.path}?{answer.query}")
    assert reply.status_code == 401


def test_attempts_at_once_do_not_register_two_clients_for_one_server(
    owner: Person, trips: ToolServer, accounts: AuthorizationServer
) -> None:
    """Whichever is stored, the attempts of the other say that they are to be begun again."""
    server = add(owner, trips)
    begun: list[str] = []

    def attempt() -> None:
        begun.append(begin(owner, server).json()["url"])

    threads = [threading.Thread(target=attempt) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    outcomes = {come_back(owner, at_their_page(url)).rpartition("=")[2] for url in begun}
    assert outcomes <= {"connected", "unknown"}
    connect(owner, server)
