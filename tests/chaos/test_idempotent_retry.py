"""A web process that stalls with an `Idempotency-Key` in hand, and comes back beside its twin."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import psycopg
import pytest

from infra.load.upstream import words
from tests.api.people import program
from tests.chaos.conftest import Site
from tests.support.product import Product

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(300)]

# Of the lease on a key, and a little more.
LAPSED_S = 17.0
TOKENS = 60
BODY = {
    "model": "auto",
    "messages": [{"role": "user", "content": "Say words."}],
    "max_tokens": TOKENS,
}


def test_key_whose_holder_stalled_past_its_lease_is_billed_once(
    start_site: Callable[..., Site],
) -> None:
    """The first holder stalls between claiming the key and storing its generation, so its twin
    stores it; the first then meets a generation of its own id."""
    site = start_site(webs=2)
    site.upstream.behaviour.rate = 10.0
    product, secret = site.product, site.person.new_key()["secret"]
    first, twin = (_Asking(web.url, secret) for web in product.webs)
    stalled = product.webs[0].process.pid

    with _policies_locked(product):
        first.start()
        _until_admission_waits(product)
        os.kill(stalled, signal.SIGSTOP)
    time.sleep(LAPSED_S)
    twin.start()
    _until_generations(product, 1)
    os.kill(stalled, signal.SIGCONT)
    first.join()
    twin.join()

    retry = _Asking(product.webs[1].url, secret)
    retry.start()
    retry.join()

    usage = product.rows("SELECT output_tokens FROM billing_usagerecord")
    assert [row["output_tokens"] for row in usage] == [TOKENS]
    assert len(site.upstream.served) == 1
    assert retry.answer.headers["Idempotent-Replayed"] == "true"
    assert first.answer.status_code == twin.answer.status_code == 200, first.answer.text
    assert retry.answer.content == twin.answer.content == first.answer.content
    assert twin.answer.json()["choices"][0]["message"]["content"] == words(0, TOKENS)


class _Asking(threading.Thread):
    """One request under the key, in a thread of its own."""

    answer: httpx.Response

    def __init__(self, url: str, secret: str) -> None:
        super().__init__()
        self._url, self._secret = url, secret

    def run(self) -> None:
        with program(self._url, self._secret) as client:
            self.answer = client.post(
                "/v1/chat/completions", json=BODY, headers={"Idempotency-Key": "one-purchase"}
            )


@contextmanager
def _policies_locked(product: Product) -> Iterator[None]:
    """Admission reads the policy after the key is claimed and before the generation is stored."""
    with psycopg.connect(product.environment["DATABASE_URL"]) as connection:
        connection.execute("LOCK TABLE audit_safetypolicy IN ACCESS EXCLUSIVE MODE")
        yield
        connection.rollback()


def _until_admission_waits(product: Product) -> None:
    _until(
        product,
        "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        " AND query LIKE '%%audit_safetypolicy%%' AND pid <> pg_backend_pid()",
        1,
    )


def _until_generations(product: Product, count: int) -> None:
    _until(product, "SELECT 1 FROM generation_generation", count)


def _until(product: Product, query: str, count: int) -> None:
    deadline = time.monotonic() + 20
    while len(product.rows(query)) != count:
        assert time.monotonic() < deadline, query
        time.sleep(0.05)
