"""Who attacks a sign-in at a tool server gets nothing of another's."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from tests.api.test_tools import ask, check
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
from tests.api.users import Person, sign_up
from tests.support.mcp_server import ToolServer
from tests.support.oauth_server import AuthorizationServer
from tests.support.scripted import ScriptedProduct


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


def test_authorization_server_that_lies_is_a_clear_error(
    owner: Person, trips: ToolServer, accounts: AuthorizationServer
) -> None:
    lies: list[tuple[dict[str, Any], str]] = [
        ({"issuer": "https://accounts.example"}, "calls itself"),
        ({"code_challenge_methods_supported": ["plain"]}, "PKCE"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "metadata of an authorization"),
        ({"token_endpoint": "ftp://127.0.0.1/token"}, "metadata of an authorization"),
        ({"token_endpoint_auth_methods_supported": ["private_key_jwt"]}, "offers none"),
    ]
    server = add(owner, trips)
    for lie, why in lies:
        accounts.metadata = {**accounts.honest, **lie}
        answer = begin(owner, server)
        assert answer.status_code == 502, answer.text
        error = answer.json()["error"]
        assert error["code"] == "tool_sign_in_failed"
        assert why in error["message"]


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
