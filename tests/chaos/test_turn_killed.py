"""The web process that is to begin an answer is killed on the way: the chat takes the next prompt
within seconds, and nothing of it is billed."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import httpx
import psutil
import psycopg
import pytest

from tests.api.test_tools import allow_all, new_server, wait
from tests.chaos.conftest import Site
from tests.support.mcp_server import ToolServer
from tests.support.product import Product

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(180)]

# Far below the minutes that it took once; a loaded machine may need more than the promised ten.
WHOLE_WITHIN_S = 30.0
GENERATIONS, STORED_ANSWERS = "generation_generation", "generation_cachedanswer"


@pytest.fixture
def site(start_site: Callable[..., Site[Product]]) -> Site[Product]:
    return start_site(webs=2)


@pytest.fixture
def server() -> Iterator[ToolServer]:
    running = ToolServer()
    running.start()
    yield running
    running.may_answer.set()
    running.stop()


def test_chat_goes_on_when_killed_before_the_generation(site: Site[Product]) -> None:
    conversation = site.person.new_conversation()
    with locked(site.product, GENERATIONS, "SHARE"):
        asking = asked(site, conversation)
        kill_waiting(site, GENERATIONS)
    asking.join()
    goes_on(site, conversation)


def test_chat_goes_on_when_killed_before_the_lease(site: Site[Product]) -> None:
    """Admission looks for a stored answer between the generation's row and its lease."""
    reuse = {"shares_running": False, "answer_cache": "exact"}
    assert site.person.browser.put("/api/data-policy/reuse", json=reuse).status_code == 200
    conversation = site.person.new_conversation()
    with locked(site.product, STORED_ANSWERS, "ACCESS EXCLUSIVE"):
        asking = asked(site, conversation, temperature=0)
        kill_waiting(site, STORED_ANSWERS)
    asking.join()
    goes_on(site, conversation)


def test_chat_goes_on_when_killed_after_a_tool_round(
    site: Site[Product], server: ToolServer
) -> None:
    """The results are stored, and the answer that is to read them has no generation yet."""
    added = new_server(site.person, server.url)
    allow_all(site.person, added)
    site.person.browser.put(f"/api/me/tools/{added['id']}", json={"on": True})
    site.upstream.behaviour.calls = [("look", '{"city": "Oslo"}')]
    conversation = site.person.new_conversation()
    asking = asked(site, conversation)
    wait(lambda: server.called)
    asking.join()
    site.upstream.behaviour.calls = []
    with locked(site.product, GENERATIONS, "SHARE"):
        server.may_answer.set()
        kill_waiting(site, GENERATIONS)
    goes_on(site, conversation)


def asked(site: Site[Product], conversation: str, **parameters: object) -> threading.Thread:
    """Ask in a thread of its own, which does not mind that the process dies."""
    url = f"{site.product.urls[0]}/api/conversations/{conversation}/messages"

    def ask() -> None:
        with suppress(httpx.HTTPError):
            site.person.browser.post(url, json={"content": "Say words.", **parameters})

    asking = threading.Thread(target=ask)
    asking.start()
    return asking


@contextmanager
def locked(product: Product, table: str, mode: str) -> Iterator[None]:
    with psycopg.connect(product.environment["DATABASE_URL"]) as connection:
        connection.execute(f"LOCK TABLE {table} IN {mode} MODE".encode())
        yield
        connection.rollback()


def kill_waiting(site: Site[Product], table: str) -> None:
    """Kill the web process that waits for the table; the person's browser goes on at the other."""
    product = site.product
    deadline = time.monotonic() + WHOLE_WITHIN_S
    query = (
        "SELECT client_port FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE %s"
    )
    while not (waiting := product.rows(query, [f"%{table}%"])):
        assert time.monotonic() < deadline, f"nobody waits for {table}"
        time.sleep(0.05)
    [victim] = [
        index
        for index, web in enumerate(product.webs)
        if any(
            one.laddr and one.laddr.port == waiting[0]["client_port"]
            for one in psutil.Process(web.process.pid).net_connections()
        )
    ]
    product.webs[victim].process.kill()
    site.person.browser.base_url = product.urls[1 - victim]


def goes_on(site: Site[Product], conversation: str) -> None:
    deadline = time.monotonic() + WHOLE_WITHIN_S
    url = f"/api/conversations/{conversation}/messages"
    while (answer := site.person.browser.post(url, json={"content": "Again."})).status_code == 409:
        assert time.monotonic() < deadline, answer.text
        time.sleep(0.2)
    assert answer.status_code == 200, answer.text
    billed = site.product.rows(
        "SELECT state, output_tokens FROM billing_usagerecord WHERE organization_id = %s",
        [site.person.organization_id],
    )
    assert all(row["output_tokens"] == 0 for row in billed if row["state"] == "failed")
    assert any(row["state"] == "completed" for row in billed)
