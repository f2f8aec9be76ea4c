"""The journeys of tools on the page, answered by the real engine and the default model."""

from collections.abc import Iterator

import pytest

from tests.api.event_stream import text_of
from tests.api.test_assistant_tools import made, named
from tests.api.test_chat_page import ask as ask_plainly
from tests.api.test_chat_page import messages_of
from tests.api.test_python_tool import ask as ask_python
from tests.api.test_python_tool import claim, switch_on, tell
from tests.api.test_tools import (
    allow_all,
    answered,
    ask,
    calls_of,
    decide,
    new_server,
    wait,
    waiting_call,
)
from tests.api.test_web_search import RESULT, configure
from tests.api.users import Person, sign_up
from tests.support.calling_engine import MODEL, CallingEngine, calling_model
from tests.support.engine import Engine
from tests.support.mcp_server import ToolServer
from tests.support.product import Product
from tests.support.web_pages import WebPages

pytestmark = pytest.mark.model

CODE = "print(6 * 7)"
ROUND = ["user", "assistant", "user", "assistant"]


@pytest.fixture(scope="module")
def engine(live_product: Product, model_engine: Engine) -> Iterator[CallingEngine]:
    with calling_model(live_product, model_engine) as running:
        yield running


@pytest.fixture(scope="module")
def owner(live_product: Product) -> Iterator[Person]:
    user = sign_up(live_product.url)
    switch_on(user)
    yield user
    user.browser.close()


@pytest.fixture(scope="module")
def server(owner: Person, tool_server: ToolServer) -> str:
    """The id of an MCP server whose tools are allowed and switched on."""
    added = new_server(owner, tool_server.url)
    allow_all(owner, added)
    assert owner.browser.put(f"/api/me/tools/{added['id']}", json={"on": True}).status_code == 204
    return str(added["id"])


@pytest.fixture(autouse=True)
def nothing_called(tool_server: ToolServer) -> None:
    tool_server.called.clear()


def check_round(user: Person, conversation: str, status: str, result: str) -> None:
    """One call, made or not, and an answer in words after it."""
    messages = answered(user, conversation)
    assert [message["role"] for message in messages] == ROUND
    assert messages[-1]["status"] == "completed" and messages[-1]["content"]
    [call] = calls_of(user, conversation)
    assert call["status"] == status
    assert result in call["result"]


def test_turn_that_offers_python_ends_well(owner: Person) -> None:
    """The default model itself, which may call or not."""
    conversation = owner.new_conversation()
    events = ask_plainly(owner, conversation, page_tools=["python"])
    assert not [event for event in events if event.data != "[DONE]" and "error" in event.json]
    [_, answer] = messages_of(owner, conversation)
    assert answer["status"] == "completed"
    assert answer["content"] == text_of(events)


def test_allowed_program_runs_and_answer_goes_on(owner: Person, engine: CallingEngine) -> None:
    engine.calls("python", code=CODE)
    conversation = owner.new_conversation(model=MODEL)
    ask_python(owner, conversation)
    call = waiting_call(owner, conversation)
    assert decide(owner, call, "once") == 200
    run = claim(owner, call).json()
    assert run["code"] == CODE
    assert tell(owner, call, run["run_id"], output="42\n").status_code == 200
    check_round(owner, conversation, "done", "42")
    result = engine.bodies[-1]["messages"][-1]
    assert result["role"] == "tool" and "42" in result["content"]


def test_denied_program_does_not_run(owner: Person, engine: CallingEngine) -> None:
    engine.calls("python", code=CODE)
    conversation = owner.new_conversation(model=MODEL)
    ask_python(owner, conversation)
    assert decide(owner, waiting_call(owner, conversation), "deny") == 200
    check_round(owner, conversation, "denied", "")
    assert "This call was declined." in engine.bodies[-1]["messages"][-1]["content"]


@pytest.mark.usefixtures("server")
def test_reading_tool_of_server_is_called_unasked(
    owner: Person, engine: CallingEngine, tool_server: ToolServer
) -> None:
    engine.calls("forecast", city="Oslo")
    conversation = owner.new_conversation(model=MODEL)
    ask(owner, conversation)
    check_round(owner, conversation, "done", "Sunny, 21 degrees.")
    assert tool_server.called == [("forecast", "Oslo")]


@pytest.mark.usefixtures("server")
def test_stop_ends_turn_while_tool_runs(
    owner: Person, engine: CallingEngine, tool_server: ToolServer
) -> None:
    engine.calls("hang")
    conversation = owner.new_conversation(model=MODEL)
    ask(owner, conversation)
    wait(lambda: tool_server.called)
    stop = f"/api/conversations/{conversation}/tool-calls/stop"
    assert owner.browser.post(stop).status_code == 202
    [call] = calls_of(owner, conversation)
    assert (call["status"], call["goes_on"]) == ("cancelled", False)
    engine.calls("forecast", city="Oslo")
    ask(owner, conversation, "And now?")
    assert answered(owner, conversation)[-1]["status"] == "completed"


def test_web_is_searched_and_its_pages_named(
    owner: Person, engine: CallingEngine, web: WebPages
) -> None:
    configure(owner, "searxng", web.url)
    engine.calls("search", query="ferry times")
    conversation = owner.new_conversation(model=MODEL)
    switch = {"web_search": True}
    patched = owner.browser.patch(f"/api/conversations/{conversation}", json=switch)
    assert patched.status_code == 200
    ask(owner, conversation)
    check_round(owner, conversation, "done", "All ferries sail at noon.")
    assert web.queries[-1:] == ["ferry times"]


@pytest.fixture
def web() -> Iterator[WebPages]:
    pages = WebPages()
    pages.start()
    pages.results = [RESULT]
    yield pages
    pages.stop()


def test_assistant_calls_tool_it_names(
    owner: Person, engine: CallingEngine, tool_server: ToolServer, server: str
) -> None:
    assistant = made(owner, tools=named(server, "book"))
    engine.calls("book", city="Rome")
    conversation = owner.new_conversation(assistant_id=assistant["id"], model=MODEL)
    ask(owner, conversation)
    assert decide(owner, waiting_call(owner, conversation), "once") == 200
    check_round(owner, conversation, "done", "Rome")
    assert tool_server.called == [("book", "Rome")]
