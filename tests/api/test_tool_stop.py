"""Stop, while a tool runs: the turn ends now, the tool hears of it, and nothing goes on."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.test_tools import allow_all, answered, ask, calls_of, new_server, wait
from tests.api.users import Person, sign_up
from tests.support.mcp_server import ToolServer
from tests.support.scripted import ScriptedProduct


@pytest.fixture(scope="module")
def server() -> Iterator[ToolServer]:
    running = ToolServer(has_sessions=True)
    running.start()
    yield running
    running.stop()


@pytest.fixture
def person(scripted_product: ScriptedProduct, server: ToolServer) -> Iterator[Person]:
    server.called.clear()
    server.cancelled.clear()
    scripted_product.says("There it is.")
    user = sign_up(scripted_product.url)
    added = new_server(user, server.url)
    allow_all(user, added)
    user.browser.put(f"/api/me/tools/{added['id']}", json={"on": True})
    yield user
    scripted_product.calls()
    user.browser.close()


def running_call(person: Person, server: ToolServer, product: ScriptedProduct) -> str:
    """A chat whose answer waits for a tool that never answers."""
    product.calls(("hang", "{}"))
    conversation = person.new_conversation()
    ask(person, conversation)
    wait(lambda: server.called)
    return conversation


def last_answer(person: Person, conversation: str) -> dict[str, Any]:
    return dict(person.browser.get(f"/api/conversations/{conversation}").json()["messages"][-1])


@pytest.mark.parametrize("door", ["chat", "generation"])
def test_stop_ends_the_turn_and_the_tool_hears_of_it(
    person: Person, scripted_product: ScriptedProduct, server: ToolServer, door: str
) -> None:
    conversation = running_call(person, server, scripted_product)
    before = last_answer(person, conversation)
    generation = before["generation_id"]
    path = (
        f"/api/conversations/{conversation}/tool-calls/stop"
        if door == "chat"
        else f"/api/generations/{generation}/cancel"
    )
    for _ in range(2):
        assert person.browser.post(path).status_code == 202
    [call] = calls_of(person, conversation)
    assert (call["status"], call["goes_on"]) == ("cancelled", False)
    wait(lambda: server.cancelled)
    assert server.cancelled == ["hang"]
    # What was written stays, is billed once, and nothing goes on.
    asked = len(scripted_product.bodies)
    time.sleep(1.5)
    after = last_answer(person, conversation)
    assert (after["id"], after["parts"]) == (before["id"], before["parts"])
    assert len(scripted_product.bodies) == asked
    rows = scripted_product.rows(
        "SELECT g.state, u.output_tokens FROM generation_generation g"
        " JOIN billing_usagerecord u ON u.generation_id = g.id WHERE g.id = %s",
        [generation],
    )
    assert len(rows) == 1
    assert rows[0]["state"] == "completed"
    assert rows[0]["output_tokens"] > 0
    rounds = scripted_product.rows(
        "SELECT state FROM tools_toolround WHERE message_id = %s", [after["id"]]
    )
    assert [row["state"] for row in rounds] == ["cancelled"]
    # The chat goes on, and the model is told that the call was not made.
    scripted_product.calls()
    ask(person, conversation, "Never mind.")
    assert answered(person, conversation)[-1]["content"].strip() == "There it is."


def test_stop_of_others_does_not_exist(
    person: Person, scripted_product: ScriptedProduct, server: ToolServer
) -> None:
    conversation = running_call(person, server, scripted_product)
    outsider = sign_up(scripted_product.url)
    path = f"/api/conversations/{conversation}/tool-calls/stop"
    assert outsider.browser.post(path).status_code == 404
    generation = last_answer(person, conversation)["generation_id"]
    assert outsider.browser.post(f"/api/generations/{generation}/cancel").status_code == 404
    assert calls_of(person, conversation)[0]["status"] == "running"
    person.browser.post(path)
    outsider.browser.close()


def test_stop_while_nothing_runs_is_fine(person: Person, scripted_product: ScriptedProduct) -> None:
    scripted_product.calls()
    conversation = person.new_conversation()
    path = f"/api/conversations/{conversation}/tool-calls/stop"
    assert person.browser.post(path).status_code == 202
    ask(person, conversation)
    assert person.browser.post(path).status_code == 202
    assert answered(person, conversation)[-1]["content"].strip() == "There it is."
