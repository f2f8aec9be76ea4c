"""A web process that is stopped between a generation's row and its lease, and goes on when its twin
has ended what looked lost."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import psycopg
import pytest

from tests.api.users import Person, program
from tests.chaos.conftest import Site
from tests.support.product import Product

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(180)]

BODY = {
    "model": "auto",
    "messages": [{"role": "user", "content": "Say words."}],
    "max_tokens": 20,
    "temperature": 0,
}
REAPED_WITHIN_S = 60.0


def test_stalled_process_delivers_nothing_for_what_was_reaped(
    start_site: Callable[..., Site[Product]],
) -> None:
    site = start_site(webs=2)
    served_before = len(site.upstream.served)
    product, secret = site.product, str(site.person.new_key()["secret"])
    _store_answers(site.person)
    stalled = product.webs[0].process.pid
    answers: list[httpx.Response] = []

    def ask() -> None:
        with program(product.webs[0].url, secret) as client:
            answers.append(client.post("/v1/chat/completions", json=BODY))

    asking = threading.Thread(target=ask)
    with _answers_locked(product):
        asking.start()
        _until(lambda: _generations(site), "a generation is stored")
        os.kill(stalled, signal.SIGSTOP)
        try:
            _until(
                lambda: [row for row in _generations(site) if row["state"] == "failed"],
                "its twin reaps it",
            )
        finally:
            os.kill(stalled, signal.SIGCONT)
    asking.join()

    [answer], [row] = answers, _generations(site)
    assert answer.status_code == 503, answer.text
    assert answer.json()["error"]["code"] == "overloaded"
    assert (row["error_code"], row["output_tokens"], row["billed"]) == ("lost", 0, 0)
    assert len(site.upstream.served) == served_before, "no engine was asked"


def _store_answers(person: Person) -> None:
    """Then admission looks for a stored answer between a generation's row and its lease."""
    reuse = {"shares_running": False, "answer_cache": "exact"}
    answer = person.browser.put("/api/data-policy/reuse", json=reuse)
    assert answer.status_code == 200, answer.text


@contextmanager
def _answers_locked(product: Product) -> Iterator[None]:
    with psycopg.connect(product.environment["DATABASE_URL"]) as connection:
        connection.execute("LOCK TABLE generation_cachedanswer IN ACCESS EXCLUSIVE MODE")
        yield
        connection.rollback()


def _generations(site: Site[Product]) -> list[dict[str, Any]]:
    return site.product.rows(
        "SELECT g.state, g.error_code, g.output_tokens, u.output_tokens AS billed"
        " FROM generation_generation g"
        " LEFT JOIN billing_usagerecord u ON u.generation_id = g.id"
        " WHERE g.organization_id = %s",
        [site.person.organization_id],
    )


def _until(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + REAPED_WITHIN_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)
