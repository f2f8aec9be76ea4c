"""Under `make run`, an embedded server that dies comes back by itself, and no answer suffers."""

import asyncio
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.api.test_websocket import changed, connect
from tests.api.users import program, sign_up
from tests.chaos.conftest import Site, whole_answer
from tests.support.launched import LaunchedProduct
from tests.support.upstream import UpstreamThread

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(300)]

SERVICES = ("postgres", "valkey", "broker")
DEADLINE_S = 120.0
# In every run all of them are killed at once.
_KILLED, _FROZEN = (
    pytest.mark.nightly(beside=f"tests/chaos/test_embedded_services_killed.py::{test}")
    for test in (
        "test_answer_is_whole_and_product_is_ready_again_after_services_are_killed",
        "test_answer_is_whole_after_a_service_was_frozen",
    )
)


@pytest.fixture(scope="module")
def site(scratch: Path) -> Iterator[Site[LaunchedProduct]]:
    """What `make run` starts, with the synthetic upstream as its engine and one web process: two,
    and who minds them, are `tests/e2e/test_better_model.py`'s."""
    upstream = UpstreamThread(rate=20.0)
    upstream.start()
    directory = Path(tempfile.mkdtemp(dir=scratch))
    directory.chmod(0o711)
    settings = {"PARLEY_ENGINE_URL": upstream.url, "PARLEY_WEB_WORKERS": "1"}
    product = LaunchedProduct(directory, settings, forked=True)
    try:
        product.start()
        site = Site(product, upstream, sign_up(product.url))
        yield site
        site.person.browser.close()
    finally:
        product.stop()
        print(product.output)  # pytest shows it beside a failure
        upstream.stop()
        upstream.close()


@pytest.mark.parametrize(
    "names",
    [
        SERVICES,
        ("valkey",),
        pytest.param(("postgres",), marks=_KILLED),
        pytest.param(("broker",), marks=_KILLED),
    ],
    ids="-".join,
)
def test_answer_is_whole_and_product_is_ready_again_after_services_are_killed(
    site: Site[LaunchedProduct], names: tuple[str, ...]
) -> None:
    killed = [site.product.service(name) for name in names]
    with site.asking() as asked:
        asked.has_begun()
        for server in killed:
            server.send_signal(signal.SIGKILL)

    whole_answer(asked.wire)
    wait_until_ready(site)
    site.check_accounts(asked.generation_id, asked.wire)
    for name, server in zip(names, killed, strict=True):
        assert site.product.service(name).pid != server.pid
    with site.asking() as again:
        pass
    whole_answer(again.wire)
    site.check_accounts(again.generation_id, again.wire)
    wait_until(lambda: usage_has_arrived(site, asked.generation_id))
    wait_until(lambda: usage_has_arrived(site, again.generation_id))


@pytest.mark.parametrize(
    "name",
    [
        "postgres",
        pytest.param("valkey", marks=_FROZEN),
        pytest.param("broker", marks=_FROZEN),
    ],
)
def test_answer_is_whole_after_a_service_was_frozen(site: Site[LaunchedProduct], name: str) -> None:
    """Nobody lets it go on: it is started anew."""
    frozen = site.product.service(name)
    with site.asking() as asked:
        asked.has_begun()
        frozen.send_signal(signal.SIGSTOP)

    whole_answer(asked.wire)
    wait_until(lambda: not frozen.is_running())
    wait_until_ready(site)
    site.check_accounts(asked.generation_id, asked.wire)


async def test_open_tab_receives_changes_after_valkey_was_killed(
    site: Site[LaunchedProduct],
) -> None:
    cookies = dict(site.person.browser.cookies)
    async with connect(site.product.url, cookies, site.product.url) as tab:
        site.product.service("valkey").send_signal(signal.SIGKILL)
        await asyncio.to_thread(wait_until_ready, site)
        await asyncio.sleep(3)
        conversation = await asyncio.to_thread(site.person.new_conversation)
        await changed(tab, conversation)


def test_beat_and_worker_work_on_after_valkey_was_killed(site: Site[LaunchedProduct]) -> None:
    """Once a minute beat asks the worker, by Valkey, to store when keys were used last."""
    site.product.service("valkey").send_signal(signal.SIGKILL)
    wait_until_ready(site)
    key = site.person.new_key()
    with program(site.product.url, key["secret"]) as client:
        assert client.get("/v1/models").status_code == 200
    used = "SELECT last_used_at FROM accounts_apikey WHERE id = %s"
    wait_until(lambda: site.product.rows(used, [key["id"]])[0]["last_used_at"] is not None)


def test_conversation_is_titled_after_postgres_was_killed(site: Site[LaunchedProduct]) -> None:
    """By a worker whose connections have all broken."""
    site.product.service("postgres").send_signal(signal.SIGKILL)
    wait_until_ready(site)
    with site.asking() as asked:
        pass
    titled = (
        "SELECT c.title FROM conversations_conversation c"
        " JOIN conversations_message m ON m.conversation_id = c.id"
        " JOIN generation_generation g ON g.message_id = m.id WHERE g.id = %s"
    )
    wait_until(lambda: bool(site.product.rows(titled, [asked.generation_id])[0]["title"]))


def test_session_and_conversations_outlive_all_services(site: Site[LaunchedProduct]) -> None:
    conversation = site.person.new_conversation(title="Kept")
    for name in SERVICES:
        site.product.service(name).send_signal(signal.SIGKILL)
    wait_until_ready(site)
    answer = site.person.browser.get(f"/api/conversations/{conversation}")
    assert answer.status_code == 200
    assert answer.json()["title"] == "Kept"


def wait_until_ready(site: Site[LaunchedProduct]) -> None:
    """Until the door says so, ten times in a row: then all connections are new ones."""
    in_a_row = 0

    def ready() -> bool:
        nonlocal in_a_row
        try:
            is_ready = httpx.get(f"{site.product.url}/readyz", timeout=10).status_code == 200
        except httpx.HTTPError:
            is_ready = False
        in_a_row = in_a_row + 1 if is_ready else 0
        return in_a_row >= 10

    wait_until(ready, lambda: httpx.get(f"{site.product.url}/readyz", timeout=10).text)


def usage_has_arrived(site: Site[LaunchedProduct], generation_id: object) -> bool:
    query = "SELECT count(*) AS count FROM billing_usageevent WHERE event_id = %s"
    return bool(site.product.rows(query, [generation_id])[0]["count"] == 1)


def wait_until(condition: Callable[[], bool], reason: Callable[[], object] = str) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, reason()
        time.sleep(0.1)
