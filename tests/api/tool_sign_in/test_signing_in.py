"""Signing in at a tool server, against a real authorization server."""

import threading
from urllib.parse import parse_qs, urlsplit

from tests.api.test_tool_discovery import documents
from tests.api.test_tools import allow_all, answered, ask, calls_of, check
from tests.api.tool_sign_in.steps import (
    add,
    allowed,
    at_their_page,
    begin,
    colleague_of,
    come_back,
    connect,
    mine,
    use,
    who_calls,
)
from tests.api.users import Person
from tests.support.mcp_server import ToolServer
from tests.support.oauth_server import AuthorizationServer
from tests.support.scripted import ScriptedProduct

CLIENT = {"client_id": "given", "client_secret": "given-secret"}


def test_person_signs_in_and_calls_as_themself(
    owner: Person,
    scripted_product: ScriptedProduct,
    trips: ToolServer,
    accounts: AuthorizationServer,
) -> None:
    server = add(owner, trips)
    unread = check(owner, {"id": server})
    assert "Connect first" in unread["error"]
    assert unread["error_code"] == "tool_sign_in_needed"
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
