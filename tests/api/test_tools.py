"""Tools of a chat: offered, approved, called, answered; servers that hang and lie; other people."""

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from backend.conversations.types import WITHHELD
from backend.tools.mcp_client import tool_call
from backend.tools.types import Address, ToolFailed
from tests.api.test_documents import ask as ask_about
from tests.api.test_documents import long_pdf, upload
from tests.api.test_untrusted_content import ORDERS, spotlit
from tests.api.users import Person, sign_up
from tests.support.mcp_server import TOKEN, ToolServer, answering
from tests.support.product import product_at
from tests.support.scripted import ScriptedProduct

NEWEST_ANSWER_IS_IN_WORDS = """
    SELECT status <> 'pending' AND NOT content @> '[{"type": "call"}]' FROM conversations_message
    WHERE conversation_id = %s AND role = 'assistant' ORDER BY created_at DESC LIMIT 1
"""
CALL_WAITS = """
    EXISTS (SELECT FROM tools_toolcall call JOIN conversations_message message
    ON message.id = call.round_id WHERE conversation_id = %s AND call.status = 'waiting')
"""


@pytest.fixture
def says(scripted_product: ScriptedProduct, tool_server: ToolServer) -> Iterator[ScriptedProduct]:
    """The product and the server as each test finds them."""
    scripted_product.says("Take an umbrella.")
    tool_server.answers_as = None
    tool_server.called.clear()
    tool_server.forecast = "Sunny, 21 degrees."
    yield scripted_product
    scripted_product.calls()
    tool_server.answers_as = None


@pytest.fixture
def person(says: ScriptedProduct, tool_server: ToolServer) -> Iterator[Person]:
    """The owner of an organization whose tools are all allowed, and switched on by them."""
    user = owner_with_tools(says, tool_server)
    yield user
    user.browser.close()


@pytest.fixture(scope="module")
def kept_person(scripted_product: ScriptedProduct, tool_server: ToolServer) -> Iterator[Person]:
    tool_server.answers_as = None
    user = owner_with_tools(scripted_product, tool_server)
    scripted_product.give_largest_plan(user.organization_id)
    yield user
    user.browser.close()


@pytest.fixture
def caller(kept_person: Person, says: ScriptedProduct) -> Person:
    """As `person`, for tests that have a chat of their own and change nothing else of theirs."""
    return kept_person


def owner_with_tools(product: ScriptedProduct, tool_server: ToolServer) -> Person:
    user = sign_up(product.url)
    server = new_server(user, tool_server.url)
    allow_all(user, server)
    switched = user.browser.put(f"/api/me/tools/{server['id']}", json={"on": True})
    assert switched.status_code == 204, switched.text
    return user


def new_server(user: Person, url: str, **more: str) -> dict[str, Any]:
    body = {"name": "Weather", "url": url, "token": TOKEN, **more}
    made = user.browser.post("/api/organization/tool-servers", json=body)
    assert made.status_code == 201, made.text
    server: dict[str, Any] = made.json()
    return server


def servers_of(user: Person) -> list[dict[str, Any]]:
    """Its MCP servers."""
    listed = user.browser.get("/api/organization/tool-servers").json()["data"]
    return [server for server in listed if server["kind"] == "mcp"]


def check(user: Person, server: dict[str, Any]) -> dict[str, Any]:
    answer = user.browser.post(f"/api/organization/tool-servers/{server['id']}/check")
    assert answer.status_code == 200, answer.text
    checked: dict[str, Any] = answer.json()
    return checked


def allow_all(user: Person, server: dict[str, Any]) -> None:
    """As a manager who believes the server: what claims to only read may be called unasked."""
    checked = check(user, server)
    assert checked["error"] == ""
    rules = [
        {"name": tool["name"], "allowed": True, "needs_approval": not tool["claims_read_only"]}
        for tool in checked["tools"]
    ]
    path = f"/api/organization/tool-servers/{server['id']}"
    answer = user.browser.patch(path, json={"tools": rules})
    assert answer.status_code == 200, answer.text


def ask(user: Person, conversation: str, text: str = "Shall I go?") -> None:
    path = f"/api/conversations/{conversation}/messages"
    answer = user.browser.post(path, json={"content": text})
    assert answer.status_code == 200, answer.text


def calls_of(user: Person, conversation: str) -> list[dict[str, Any]]:
    answer = user.browser.get(f"/api/conversations/{conversation}/tool-calls")
    assert answer.status_code == 200, answer.text
    listed: list[dict[str, Any]] = answer.json()["data"]
    return listed


def wait(until: Callable[[], Any], *, look_s: float = 0.1) -> Any:
    deadline = time.monotonic() + 90
    while not (found := until()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(look_s)
    return found


def waiting_call(user: Person, conversation: str) -> dict[str, Any]:
    product_at(str(user.browser.base_url)).wait_until(CALL_WAITS, [conversation])
    waiting = [one for one in calls_of(user, conversation) if one["status"] == "waiting"]
    return waiting[0]


def answered(user: Person, conversation: str, *, look_s: float = 0.1) -> list[dict[str, Any]]:
    """The messages, when the last of them is an answer in words."""

    def messages() -> Any:
        branch = user.browser.get(f"/api/conversations/{conversation}").json()["messages"]
        last = branch[-1]
        has_call = any(part["type"] == "call" for part in last["parts"])
        return branch if last["status"] != "pending" and not has_call else None

    product_at(str(user.browser.base_url)).wait_until(NEWEST_ANSWER_IS_IN_WORDS, [conversation])
    return list(wait(messages, look_s=look_s))


def decide(user: Person, call: dict[str, Any], decision: str) -> int:
    path = f"/api/tool-calls/{call['id']}/decision"
    return user.browser.post(path, json={"decision": decision}).status_code


def test_server_claims_allow_nothing_and_spare_no_approval(
    scripted_product: ScriptedProduct, tool_server: ToolServer
) -> None:
    tool_server.answers_as = None
    user = sign_up(scripted_product.url)
    server = new_server(user, tool_server.url)
    tools = {tool["name"]: tool for tool in check(user, server)["tools"]}
    assert not any(tool["allowed"] for tool in tools.values())
    assert tools["forecast"]["claims_read_only"] and not tools["book"]["claims_read_only"]
    assert all(tool["needs_approval"] for tool in tools.values())
    assert f"Bearer {TOKEN}" in tool_server.seen_tokens
    shown = user.browser.get("/api/organization/tool-servers").text
    assert TOKEN not in shown
    stored = scripted_product.rows("SELECT encrypted_token FROM tools_toolserver")
    assert all(TOKEN not in row["encrypted_token"] for row in stored)
    user.browser.close()


def test_tool_that_claims_to_read_waits_until_a_manager_says_it_may_be_called_unasked(
    person: Person, scripted_product: ScriptedProduct, tool_server: ToolServer
) -> None:
    [server] = servers_of(person)
    path = f"/api/organization/tool-servers/{server['id']}"
    rule = {"name": "forecast", "allowed": True, "needs_approval": True}
    assert person.browser.patch(path, json={"tools": [rule]}).status_code == 200
    scripted_product.calls(("forecast", '{"city": "Oslo"}'))
    conversation = person.new_conversation()
    ask(person, conversation)
    call = waiting_call(person, conversation)
    assert tool_server.called == []
    assert decide(person, call, "once") == 200
    answered(person, conversation)
    assert tool_server.called == [("forecast", "Oslo")]

    rule["needs_approval"] = False
    assert person.browser.patch(path, json={"tools": [rule]}).status_code == 200
    ask(person, conversation, "And now?")
    answered(person, conversation)
    assert tool_server.called == [("forecast", "Oslo")] * 2
    updated = person.browser.get("/api/audit-log").json()["data"]
    said = [event["details"] for event in updated if event["action"] == "tool_server.updated"]
    assert [one["without_approval"] for one in said[:2]] == [["forecast"], []]


def test_reading_tool_is_called_at_once_and_the_answer_goes_on(
    person: Person, scripted_product: ScriptedProduct, tool_server: ToolServer
) -> None:
    scripted_product.calls(("forecast", '{"city": "Oslo"}'))
    conversation = person.new_conversation()
    ask(person, conversation)
    messages = answered(person, conversation)
    assert tool_server.called == [("forecast", "Oslo")]
    [call] = calls_of(person, conversation)
    assert (call["status"], call["result"]) == ("done", "Sunny, 21 degrees.")
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant"]
    assert messages[-1]["content"].strip() == "Take an umbrella."
    result = scripted_product.prompts[-1][-1]
    assert result["role"] == "tool"
    spotlit(result["content"], "Sunny, 21 degrees.")
    events = person.browser.get("/api/audit-log").json()["data"]
    called = [event for event in events if event["action"] == "tool.called"]
    assert len(called) == 1
    assert called[0]["details"]["tool"] == "forecast"


def test_turn_without_tools_offers_none(
    caller: Person, scripted_product: ScriptedProduct, tool_server: ToolServer
) -> None:
    scripted_product.calls(("forecast", '{"city": "Oslo"}'))
    conversation = caller.new_conversation()
    path = f"/api/conversations/{conversation}/messages"
    body = {"content": "Shall I go?", "tool_choice": "none"}
    assert caller.browser.post(path, json=body).status_code == 200
    prompt, answer = answered(caller, conversation)
    again = f"/api/messages/{prompt['id']}/regenerate"
    assert caller.browser.post(again, json={"tool_choice": "none"}).status_code == 200
    assert answered(caller, conversation)[-1]["content"].strip() == "Take an umbrella."
    assert all("tools" not in one for one in scripted_product.bodies[-2:])
    assert answer["content"].strip() == "Take an umbrella."
    assert tool_server.called == []


def test_answer_after_a_call_has_read_the_long_file_too(
    caller: Person, scripted_product: ScriptedProduct
) -> None:
    scripted_product.calls(("forecast", '{"city": "Oslo"}'))
    conversation = caller.new_conversation()
    file = upload(caller, long_pdf("The ferry sails at noon.", on=21), "ferry.pdf")
    ask_about(caller, conversation, "When does the ferry sail, and in what weather?", file)
    answered(caller, conversation)
    asked, call, result = scripted_product.prompts[-1][-3:]
    assert (call["role"], result["role"]) == ("assistant", "tool")
    assert "[page 21]\nThe ferry sails at noon." in asked["content"]


def test_changing_tool_waits_for_its_person_and_is_called_once(
    caller: Person, scripted_product: ScriptedProduct, tool_server: ToolServer
) -> None:
    scripted_product.calls(("book", '{"city": "Rome"}'))
    conversation = caller.new_conversation()
    ask(caller, conversation)
    call = waiting_call(caller, conversation)
    assert tool_server.called == []
    assert decide(caller, call, "once") == 200
    assert decide(caller, call, "once") == 409
    answered(caller, conversation)
    assert tool_server.called == [("book", "Rome")]
    [stored] = scripted_product.rows(
        "SELECT decision, decided_by_id FROM tools_toolcall WHERE id = %s", [call["id"]]
    )
    assert stored["decision"] == "once"
    assert str(stored["decided_by_id"]) == caller.me["user"]["id"]


def test_denied_call_is_not_made_and_the_answer_goes_on(
    caller: Person, scripted_product: ScriptedProduct, tool_server: ToolServer
) -> None:
    scripted_product.calls(("book", '{"city": "Rome"}'))
    conversation = caller.new_conversation()
    ask(caller, conversation)
    assert decide(caller, waiting_call(caller, conversation), "deny") == 200
    answered(caller, conversation)
    assert tool_server.called == []
    assert "This call was declined." in scripted_product.prompts[-1][-1]["content"]


def test_grant_holds_for_its_chat_or_for_all_and_is_revoked(
    person: Person, scripted_product: ScriptedProduct, tool_server: ToolServer
) -> None:
    scripted_product.calls(("book", '{"city": "Rome"}'))
    first, second, third = (person.new_conversation() for _ in range(3))
    ask(person, first)
    assert decide(person, waiting_call(person, first), "chat") == 200
    answered(person, first)
    ask(person, first, "Again.")
    answered(person, first)
    assert len(tool_server.called) == 2

    ask(person, second)
    assert decide(person, waiting_call(person, second), "always") == 200
    answered(person, second)
    ask(person, third)
    answered(person, third)
    assert len(tool_server.called) == 4

    [grant] = person.browser.get("/api/me/tools").json()["always"]
    assert person.browser.delete(f"/api/me/tool-grants/{grant['id']}").status_code == 204
    ask(person, third, "Again.")
    waiting_call(person, third)
    assert len(tool_server.called) == 4


def test_always_is_refused_for_what_calls_itself_destructive(
    caller: Person, scripted_product: ScriptedProduct
) -> None:
    scripted_product.calls(("cancel_all", "{}"))
    conversation = caller.new_conversation()
    ask(caller, conversation)
    call = waiting_call(caller, conversation)
    assert call["may_always"] is False
    assert decide(caller, call, "always") == 400


def test_writing_on_gives_a_waiting_call_up(
    caller: Person, scripted_product: ScriptedProduct, tool_server: ToolServer
) -> None:
    scripted_product.calls(("book", '{"city": "Rome"}'))
    conversation = caller.new_conversation()
    ask(caller, conversation)
    call = waiting_call(caller, conversation)
    scripted_product.calls()
    ask(caller, conversation, "Never mind.")
    assert decide(caller, call, "once") == 409
    assert tool_server.called == []
    roles = [message["role"] for message in scripted_product.prompts[-1]]
    assert roles == ["user", "assistant", "tool", "user"]


def test_failed_call_costs_a_word_and_not_the_chat(
    caller: Person, scripted_product: ScriptedProduct
) -> None:
    failing = {
        ("hang", "{}"): "Timeout after 5 s.",
        ("huge", "{}"): "Tool server error",
        ("forecast", "[1]"): "not a JSON object",
        ("forecast", "{}"): "Error",
    }
    scripted_product.calls(*failing)
    conversation = caller.new_conversation()
    ask(caller, conversation)
    messages = answered(caller, conversation)
    assert messages[-1]["content"].strip() == "Take an umbrella."
    assert [call["status"] for call in calls_of(caller, conversation)] == ["failed"] * 4
    results = [message["content"] for message in scripted_product.prompts[-1][-4:]]
    for (call, answer), result in zip(failing.items(), results, strict=True):
        assert answer in result, call


def test_long_result_is_cut(caller: Person, scripted_product: ScriptedProduct) -> None:
    scripted_product.calls(("long", "{}"))
    conversation = caller.new_conversation()
    ask(caller, conversation)
    answered(caller, conversation)
    [call] = calls_of(caller, conversation)
    assert 16_000 <= len(call["result"]) < 17_000
    assert "[cut: the result has 100,000 characters]" in call["result"]


WRONG_ID = b'{"jsonrpc": "2.0", "id": 99, "result": {}}'


@pytest.mark.parametrize(
    "lie",
    [
        answering(200, b"{", content_type="application/json"),
        answering(200, b"[]", content_type="application/json"),
        answering(200, WRONG_ID, content_type="application/json"),
        answering(200, b"hello", content_type="text/html"),
        answering(500, b"no"),
        answering(307, b"", location="http://169.254.169.254/latest/meta-data"),
    ],
    ids=["no-json", "no-object", "wrong-id", "html", "fails", "redirect"],
)
def test_server_that_lies_is_named_as_failed(
    settings: Any, tool_server: ToolServer, lie: Any
) -> None:
    settings.TOOLS_TO_PRIVATE, settings.TOOL_TIMEOUT_S = True, 2.0
    tool_server.answers_as = lie
    try:
        with pytest.raises(ToolFailed, match=r"^Tool server error: |Timeout"):
            asyncio.run(tool_call(Address(tool_server.url, TOKEN), "forecast", {"city": "Oslo"}))
    finally:
        tool_server.answers_as = None
    assert ("forecast", "Oslo") not in tool_server.called


def test_chat_goes_on_past_a_server_that_lies(
    caller: Person, scripted_product: ScriptedProduct, tool_server: ToolServer
) -> None:
    tool_server.answers_as = answering(307, b"", location="http://169.254.169.254/latest/meta-data")
    scripted_product.calls(("forecast", '{"city": "Oslo"}'))
    conversation = caller.new_conversation()
    ask(caller, conversation)
    answered(caller, conversation)
    [call] = calls_of(caller, conversation)
    assert call["status"] == "failed"
    assert call["result"].startswith("Tool server error: ")


def test_changed_definition_is_reviewed_anew(
    person: Person, scripted_product: ScriptedProduct
) -> None:
    """A server that was allowed for what it said then says something else."""
    [server] = servers_of(person)
    changed = scripted_product.rows(
        "UPDATE tools_tool SET fingerprint = 'another' WHERE name = 'book' AND server_id = %s"
        " RETURNING id",
        [server["id"]],
    )
    assert len(changed) == 1
    tools = {tool["name"]: tool for tool in check(person, server)["tools"]}
    assert not tools["book"]["allowed"]
    assert tools["forecast"]["allowed"]


def test_orders_in_a_result_do_not_reach_the_model(
    caller: Person, scripted_product: ScriptedProduct, tool_server: ToolServer
) -> None:
    tool_server.forecast = f"Sunny. {ORDERS}"
    scripted_product.calls(("forecast", '{"city": "Oslo"}'))
    conversation = caller.new_conversation()
    ask(caller, conversation)
    assert answered(caller, conversation)[-1]["status"] == "completed"
    [call] = calls_of(caller, conversation)
    assert (call["result"], call["withheld"]) == (f"Sunny. {ORDERS}", True)
    assert not any(ORDERS in str(prompt) for prompt in scripted_product.prompts)
    sent = caller.browser.get(f"/api/messages/{answered(caller, conversation)[-1]['id']}/sent")
    results = [one["text"] for one in sent.json()["messages"] if one["role"] == "tool"]
    assert results == [WITHHELD]


def test_result_loses_the_place_that_reads_like_orders(
    caller: Person, scripted_product: ScriptedProduct, tool_server: ToolServer
) -> None:
    weather = "It is sunny in the north and it rains in the south. " * 15
    tool_server.forecast = f"{weather}\n\n{ORDERS}\n\n{weather}Take a coat."
    scripted_product.calls(("forecast", '{"city": "Oslo"}'))
    conversation = caller.new_conversation()
    ask(caller, conversation)
    messages = answered(caller, conversation)
    [call] = calls_of(caller, conversation)
    assert (call["withheld"], call["withheld_in_part"]) == (True, True)
    sent = caller.browser.get(f"/api/messages/{messages[-1]['id']}/sent").json()["messages"]
    read = [scripted_product.prompts[-1][-1]["content"], sent[-1]["text"]]
    for text in read:
        assert WITHHELD in text and "Take a coat." in text and ORDERS not in text


def test_key_is_offered_no_tools(caller: Person, scripted_product: ScriptedProduct) -> None:
    key = caller.new_key(scopes=["inference", "conversations"])
    conversation = caller.new_conversation()
    answer = caller.browser.post(
        f"/api/conversations/{conversation}/messages",
        json={"content": "Hello"},
        headers={"Authorization": f"Bearer {key['secret']}", "Cookie": ""},
    )
    assert answer.status_code == 200, answer.text
    assert "tools" not in scripted_product.bodies[-1]


def test_calls_and_servers_of_others_do_not_exist(
    caller: Person, scripted_product: ScriptedProduct, tool_server: ToolServer
) -> None:
    scripted_product.calls(("book", '{"city": "Rome"}'))
    conversation = caller.new_conversation()
    ask(caller, conversation)
    call = waiting_call(caller, conversation)
    [server] = servers_of(caller)
    invitation = caller.new_invitation(role="member")["url"].partition("#")[2]
    colleague = sign_up(scripted_product.url, invitation=invitation)
    outsider = sign_up(scripted_product.url)
    for other in (colleague, outsider):
        assert decide(other, call, "always") == 404
        path = f"/api/conversations/{conversation}/tool-calls"
        assert other.browser.get(path).status_code == 404
    switch = f"/api/me/tools/{server['id']}"
    assert outsider.browser.put(switch, json={"on": True}).status_code == 404
    assert colleague.browser.get("/api/organization/tool-servers").status_code == 403
    check_path = f"/api/organization/tool-servers/{server['id']}/check"
    assert colleague.browser.post(check_path).status_code == 403
    # What a colleague has not switched on is not offered to them.
    ask(colleague, colleague.new_conversation())
    assert "tools" not in scripted_product.bodies[-1]
    assert tool_server.called == []
    colleague.browser.close()
    outsider.browser.close()
