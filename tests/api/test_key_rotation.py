"""Keys are rotated and the old version dropped under a running product: no request fails."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
import redis
from django.core import signing

from backend.platform import key_files
from backend.platform.keys import Keyring, Purpose
from tests.api.test_websocket import connect
from tests.api.users import Browser, program, sign_up
from tests.conversations.conftest import ask
from tests.support.scripted import ScriptedProduct

# A tab's pause between two requests.
PAUSE_S = 0.2


@pytest.fixture
def product(scripted_product: ScriptedProduct) -> ScriptedProduct:
    return scripted_product


@pytest.fixture
def keys_file(product: ScriptedProduct) -> Path:
    return Path(product.environment["PARLEY_KEYS_FILE"])


def statuses_during(url: str, browser: Browser, work) -> set[int]:
    """Of two tabs that ask for `url` again and again while `work` runs."""
    over = threading.Event()

    def tab() -> set[int]:
        seen = set()
        with httpx.Client(cookies=browser.cookies, timeout=60) as client:
            while not over.is_set():
                seen.add(client.get(f"{url}/api/me").status_code)
                time.sleep(PAUSE_S)
        return seen

    with ThreadPoolExecutor(2) as tabs:
        running = [tabs.submit(tab) for _ in range(2)]
        try:
            work()
        finally:
            over.set()
        return set().union(*(found.result() for found in running))


async def test_rotation_under_load_ends_no_session_and_keeps_shares_and_webhooks(
    product: ScriptedProduct, keys_file: Path
):
    user, other = sign_up(product.url), sign_up(product.urls[-1])
    secret = str(user.new_key()["secret"])
    hook = user.browser.post(
        "/api/webhooks", json={"url": "https://example.com/", "types": ["invoice.issued"]}
    )
    assert hook.status_code in {200, 201}, hook.text
    product.says("An answer to share.")
    conversation = user.new_conversation()
    ask(user, conversation, "Hello")
    shared = user.browser.post(f"/api/conversations/{conversation}/shares", json={}).json()
    leaked = keys_file.read_text()

    def rotate() -> None:
        product.manage("rotate-keys", "--activation-seconds", "3")
        product.manage("rotate-keys", "--drop", "1", "--end-links")

    assert statuses_during(product.url, user.browser, rotate) == {200}
    assert "\n1:" not in keys_file.read_text()

    # Everything once more from the database alone: no process remembers, no cache helps.
    with redis.Redis.from_url(product.environment["REDIS_URL"]) as cache:
        cache.flushdb()  # as `cache.clear()` does, without a process that imports the product
    for person in (user, other):
        assert person.browser.get("/api/me").status_code == 200
        assert person.browser.patch("/api/me", json={"name": "Still here"}).status_code == 200
    async with connect(product.url, dict(user.browser.cookies), product.url) as socket:
        assert (await socket.ping()) is not None
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await socket.recv()
    token = shared["token"]
    assert httpx.get(f"{product.url}/api/shared/{token}").status_code == 200
    with program(product.url, secret) as client:
        assert client.get("/v1/models").status_code == 200
    [row] = product.rows(
        "SELECT secret FROM billing_webhookendpoint WHERE organization_id = %s",
        [user.organization_id],
    )
    assert row["secret"].startswith("v2.")

    attacker = Keyring(inline=leaked.splitlines()[-1])
    for purpose in Purpose:
        forged = "parley-internal-" + signing.dumps(
            "00000000-0000-0000-0000-000000000001",
            key=attacker.text_key(purpose),
            salt=f"parley.{purpose}",
        )
        with program(product.url, forged) as client:
            assert client.get("/v1/models").status_code == 401


def test_second_process_reads_what_the_first_signed_before_it_writes_itself(
    product: ScriptedProduct, keys_file: Path
):
    """Between the version's entry and its time both processes know it, and neither uses it."""
    first = sign_up(product.url)
    added = key_files.key_add(keys_file, writes_from=2**31)
    for url in product.urls:
        with httpx.Client(cookies=first.browser.cookies) as client:
            assert client.get(f"{url}/api/me").status_code == 200
    key_files.key_remove(keys_file, added.version)
