"""The web process that makes a tool call is killed while the tool works, or while its person
thinks: another one goes on, and what changes something was called once."""

from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest

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
from tests.chaos.conftest import Site
from tests.support.mcp_server import ToolServer
from tests.support.product import Product

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(300)]


@pytest.fixture
def server() -> Iterator[ToolServer]:
    running = ToolServer()
    running.start()
    yield running
    running.may_answer.set()
    running.stop()


@pytest.fixture
def site(start_site: Callable[..., Site[Product]], server: ToolServer) -> Iterator[Site[Product]]:
    here = start_site(webs=2)
    added = new_server(here.person, server.url)
    allow_all(here.person, added)
    here.person.browser.put(f"/api/me/tools/{added['id']}", json={"on": True})
    yield here
    here.upstream.behaviour.calls = []


def chat_that_calls(site: Site[Product], *call: str) -> str:
    site.upstream.behaviour.calls = [(call[0], call[1])]
    conversation = site.person.new_conversation()
    ask(site.person, conversation)
    return conversation


def kill_caller(site: Site[Product], server: ToolServer) -> None:
    """The process that waits for the tool server's answer, and no other."""
    port = int(server.url.split(":")[2].split("/")[0])
    callers = [
        index
        for index, web in enumerate(site.product.webs)
        if any(
            one.raddr and one.raddr.port == port
            for one in psutil.Process(web.process.pid).net_connections()
        )
    ]
    assert len(callers) == 1, callers
    site.product.webs[callers[0]].process.kill()
    at_the_other(site, 1 - callers[0])


def at_the_other(site: Site[Product], index: int) -> None:
    """The person's browser goes on at the process that lives."""
    site.person.browser.base_url = site.product.urls[index]


def ended(site: Site[Product], conversation: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The call, and the answer that was written after it, some leases later: to look costs the
    product a request each time."""
    answer = answered(site.person, conversation, look_s=0.5)[-1]
    [call] = calls_of(site.person, conversation)
    return call, answer


def test_call_that_changes_something_is_made_once_and_the_turn_goes_on(
    site: Site[Product], server: ToolServer
) -> None:
    conversation = chat_that_calls(site, "pay", '{"amount": "9"}')
    assert decide(site.person, waiting_call(site.person, conversation), "once") == 200
    wait(lambda: server.called)
    kill_caller(site, server)
    server.may_answer.set()
    call, answer = ended(site, conversation)
    assert server.called == [("pay", "9")]
    assert (call["status"], call["decision"]) == ("failed", "once")
    assert "not known" in call["result"]
    assert answer["status"] == "completed"
    assert answer["content"].strip()


def test_call_that_only_reads_is_made_again(site: Site[Product], server: ToolServer) -> None:
    conversation = chat_that_calls(site, "look", '{"city": "Oslo"}')
    wait(lambda: server.called)
    kill_caller(site, server)
    server.may_answer.set()
    call, answer = ended(site, conversation)
    assert server.called == [("look", "Oslo")] * 2
    assert (call["status"], call["result"]) == ("done", "Seen Oslo.")
    assert answer["status"] == "completed"


def test_approval_outlives_the_process_that_asked_for_it(
    site: Site[Product], server: ToolServer
) -> None:
    conversation = chat_that_calls(site, "pay", '{"amount": "9"}')
    call = waiting_call(site.person, conversation)
    site.product.webs[0].process.kill()
    at_the_other(site, 1)
    server.may_answer.set()
    assert server.called == []
    assert decide(site.person, call, "once") == 200
    call, answer = ended(site, conversation)
    assert server.called == [("pay", "9")]
    assert (call["status"], call["result"]) == ("done", "Paid 9.")
    assert answer["status"] == "completed"


def test_stop_of_a_call_whose_process_was_killed_ends_it(
    site: Site[Product], server: ToolServer
) -> None:
    conversation = chat_that_calls(site, "pay", '{"amount": "9"}')
    assert decide(site.person, waiting_call(site.person, conversation), "once") == 200
    wait(lambda: server.called)
    kill_caller(site, server)
    stopped = site.person.browser.post(f"/api/conversations/{conversation}/tool-calls/stop")
    assert stopped.status_code == 202
    [call] = calls_of(site.person, conversation)
    assert call["status"] == "cancelled"
    server.may_answer.set()
    site.upstream.behaviour.calls = []
    ask(site.person, conversation, "Never mind.")
    assert answered(site.person, conversation)[-1]["status"] == "completed"
    [call] = calls_of(site.person, conversation)
    assert call["status"] == "cancelled"
    assert server.called == [("pay", "9")]
