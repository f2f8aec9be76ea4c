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
from tests.api.users import Person, program
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
    _until_generation_of(site.person, product)
    os.kill(stalled, signal.SIGCONT)
    first.join()
    twin.join()

    retry = _Asking(product.webs[1].url, secret)
    retry.start()
    retry.join()

    usage = product.rows(
        "SELECT output_tokens FROM billing_usagerecord WHERE organization_id = %s",
        [site.person.organization_id],
    )
    assert [row["output_tokens"] for row in usage] == [TOKENS]
    assert len(site.upstream.served) == 1
    assert retry.answer.headers["Idempotent-Replayed"] == "true"
    assert first.answer.status_code == twin.answer.status_code == 200, first.answer.text
    assert retry.answer.content == twin.answer.content == first.answer.content
    assert twin.answer.json()["choices"][0]["message"]["content"] == words(0, TOKENS)


def test_stalled_holder_does_not_start_what_its_successor_freed(
    start_site: Callable[..., Site],
) -> None:
    """The twin is refused, which frees the key, and a third request is answered under it. The
    first holder's last look at its lock was before all that."""
    site = start_site(webs=2)
    product, secret = site.product, site.person.new_key()["secret"]
    refused_key = _key_without_budget(site.person)
    served_before = len(site.upstream.served)
    first = _Asking(product.webs[0].url, secret)
    refused = _Asking(product.webs[1].url, refused_key)
    third = _Asking(product.webs[1].url, secret)
    stalled = product.webs[0].process.pid

    with _policies_locked(product):
        first.start()
        _until_admission_waits(product)
        os.kill(stalled, signal.SIGSTOP)
    time.sleep(LAPSED_S)
    for asking in (refused, third):
        asking.start()
        asking.join()
    os.kill(stalled, signal.SIGCONT)
    first.join()

    assert refused.answer.json()["error"]["code"] == "insufficient_quota"
    assert third.answer.status_code == 200
    assert first.answer.status_code == 409, first.answer.text
    assert first.answer.json()["error"]["code"] == "idempotency_key_in_use"
    usage = product.rows(
        "SELECT output_tokens FROM billing_usagerecord WHERE organization_id = %s",
        [site.person.organization_id],
    )
    assert [row["output_tokens"] for row in usage] == [TOKENS]
    assert len(site.upstream.served) == served_before + 1


def _key_without_budget(person: Person) -> str:
    """Of the same user, so the same `Idempotency-Key` is theirs too; it may spend nothing."""
    created = person.new_key()
    budget = {"amount": "0", "is_hard": True, "key_id": created["id"]}
    answer = person.browser.post("/api/budgets", json=budget)
    assert answer.status_code == 200, answer.text
    return str(created["secret"])


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
    )


def _until_generation_of(person: Person, product: Product) -> None:
    own = "SELECT 1 FROM generation_generation WHERE organization_id = %s"
    _until(product, own, person.organization_id)


def _until(product: Product, query: str, *parameters: object) -> None:
    """Until the query has one row."""
    deadline = time.monotonic() + 20
    while len(product.rows(query, parameters)) != 1:
        assert time.monotonic() < deadline, query
        time.sleep(0.05)
