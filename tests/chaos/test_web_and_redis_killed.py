"""A web process and Redis, with its data, die together: a retry is told that its answer is gone."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager

import httpx
import psycopg
import pytest

from tests.api.users import program
from tests.chaos.conftest import BEGUN, Site
from tests.chaos.reader import Wire, read_stream
from tests.support.product import Product

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(300)]

ASKED = {
    "model": "auto",
    "messages": [{"role": "user", "content": "Say words."}],
    "max_tokens": 400,
    "stream": True,
}
KEY = {"Idempotency-Key": "one-purchase"}


def test_retry_of_a_lost_answer_that_was_read_gets_an_error_and_runs_nothing(
    start_site: Callable[..., Site[Product]],
) -> None:
    """PostgreSQL did not hear that an engine had begun, as where it was away just then: nothing in
    the product knows any more that there was something to read."""
    site = start_site(webs=2)
    product, read = site.product, Wire()
    valkey = product.services.service("REDIS_URL")
    assert valkey is not None
    with program(product.url, site.person.new_key()["secret"]) as client:
        with _asking(client, product.urls[0]) as answer:
            read_stream(answer, read, until=BEGUN)
            product.webs[0].process.kill()
            valkey.kill()
        served = len(site.upstream.served)
        _forget_that_it_ran(site)
        valkey.start()
        _until_ready(product.urls[1])
        again = Wire()
        with psycopg.connect(product.environment["DATABASE_URL"]) as held:
            held.execute("SELECT 1 FROM generation_generation FOR UPDATE")
            with _asking(client, product.urls[1]) as answer:
                assert answer.status_code == 200, "nobody can end it yet"
                held.rollback()
                read_stream(answer, again)
        later = client.post(f"{product.urls[1]}/v1/chat/completions", json=ASKED, headers=KEY)

    assert read.text and not again.text
    assert again.error is not None and again.error["code"] == "idempotency_answer_lost"
    assert later.status_code == 409, later.text
    assert later.json()["error"]["code"] == "idempotency_answer_lost"
    assert len(site.upstream.served) == served
    billed = product.rows(
        "SELECT g.error_code, u.output_tokens FROM generation_generation g"
        " JOIN billing_usagerecord u ON u.generation_id = g.id WHERE g.organization_id = %s",
        [site.person.organization_id],
    )
    assert billed == [{"error_code": "lost", "output_tokens": 0}]


def _asking(client: httpx.Client, url: str) -> AbstractContextManager[httpx.Response]:
    return client.stream("POST", f"{url}/v1/chat/completions", json=ASKED, headers=KEY)


def _until_ready(url: str) -> None:
    """Until it has found Redis and its engine again."""
    deadline = time.monotonic() + 60
    while httpx.get(f"{url}/readyz", timeout=10).status_code != 200:
        assert time.monotonic() < deadline, httpx.get(f"{url}/readyz", timeout=10).text
        time.sleep(0.1)


def _forget_that_it_ran(site: Site[Product]) -> None:
    """And be old enough to be settled at once."""
    rows = site.product.rows(
        "UPDATE generation_generation SET state = 'queued', pool = '', replica = '',"
        " started_at = NULL, created_at = created_at - interval '1 minute'"
        " WHERE organization_id = %s RETURNING id",
        [site.person.organization_id],
    )
    assert len(rows) == 1
