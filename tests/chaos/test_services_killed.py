"""The engine, Redis, worker and relay die in the middle of an answer: it comes out whole."""

import os
import signal
import time
from collections.abc import Callable

import httpx
import pytest
import redis

from tests.api.users import Browser, program
from tests.chaos.conftest import ANSWER_TOKENS, Asked, Site, whole_answer
from tests.support.product import Product

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(300)]


def test_answer_continues_when_the_engine_is_killed_and_restarted(
    start_site: Callable[..., Site[Product]],
) -> None:
    site = start_site()
    with site.asking() as asked:
        asked.has_begun()
        site.upstream.stop()
        time.sleep(2)
        site.upstream.start()

    whole_answer(asked.wire)
    site.check_accounts(asked.generation_id, asked.wire)
    assert len(site.upstream.served) >= 2


def test_answer_is_whole_when_redis_is_emptied(start_site: Callable[..., Site[Product]]) -> None:
    site = start_site()
    with (
        site.asking() as asked,
        redis.Redis.from_url(site.product.environment["REDIS_URL"]) as client,
    ):
        for _ in range(3):
            time.sleep(0.8)
            client.flushall()

    whole_answer(asked.wire)
    site.check_accounts(asked.generation_id, asked.wire)


def test_answer_is_whole_when_redis_is_killed_and_comes_back_empty(
    start_site: Callable[..., Site[Product]],
) -> None:
    site = start_site()
    service = site.product.services.service("REDIS_URL")
    assert service is not None
    with site.asking() as asked:
        asked.has_begun()
        service.kill()
        time.sleep(1.0)
        service.start()

    whole_answer(asked.wire)
    site.check_accounts(asked.generation_id, asked.wire)


def test_readyz_fails_and_clients_get_a_typed_error_when_redis_is_lost(
    start_site: Callable[..., Site[Product]],
) -> None:
    site = start_site()
    secret = str(site.person.new_key()["secret"])
    service = site.product.services.service("REDIS_URL")
    assert service is not None
    service.kill()
    ready = httpx.get(f"{site.product.url}/readyz", timeout=30)
    assert ready.status_code == 503
    assert ready.json()["checks"]["redis"]["ok"] is False
    assert ready.json()["checks"]["database"]["ok"] is True
    with program(site.product.url, secret) as client:
        answer = client.post(
            "/v1/chat/completions",
            json={"model": "auto", "messages": [{"role": "user", "content": "Hi"}]},
        )
    assert answer.status_code == 503
    assert answer.json()["error"]["type"] == "server_error"
    assert answer.headers["Retry-After"]
    assert httpx.get(f"{site.product.url}/healthz").status_code == 200


def test_sign_in_history_and_usage_work_while_no_engine_does(
    start_site: Callable[..., Site[Product]],
) -> None:
    """The page tells its banner by the model's status."""
    site = start_site()
    with site.asking() as asked:
        pass
    site.upstream.stop()
    url = site.product.url

    def replicas_are_there() -> set[bool]:
        """As the web processes see it that take these connections."""
        asked = (httpx.get(f"{url}/readyz", timeout=30).json() for _ in range(8))
        return {bool(one["checks"]["replicas"]["ok"]) for one in asked}

    _until(lambda: replicas_are_there() == {False})
    assert httpx.get(f"{url}/readyz", timeout=30).status_code == 200
    visitor = Browser(url)
    login = {"email": site.person.email, "password": site.person.password}
    assert visitor.post("/api/auth/login", json=login).status_code == 200
    _until(lambda: visitor.get("/api/models").json()["data"][0]["status"] == "unavailable")
    [conversation] = visitor.get("/api/conversations").json()["data"]
    kept = visitor.get(f"/api/conversations/{conversation['id']}").json()["messages"]
    assert asked.wire.text in str(kept)
    usage = visitor.get("/api/usage?period=last_30_days&group_by=model")
    assert usage.json()["output_tokens"] == ANSWER_TOKENS
    turn = f"/api/conversations/{conversation['id']}/messages"
    refused = visitor.post(turn, json={"content": "Say words."})
    assert refused.status_code == 503 and refused.headers["Retry-After"]

    site.upstream.start()
    _until(lambda: replicas_are_there() == {True})
    with site.asking() as again:
        pass
    whole_answer(again.wire)
    visitor.close()


def test_web_process_starts_while_postgres_is_away(
    start_site: Callable[..., Site[Product]],
) -> None:
    """One that did not would take the others of its server with it: uvicorn then ends them all."""
    site = start_site()
    with site.asking():
        pass  # a database of the tests writes to disk some tenths of a second after a commit
    web = site.product.webs[0]
    postgres = site.product.services.service("DATABASE_URL")
    assert postgres is not None
    postgres.kill()
    web.process.kill()
    web.process.start()
    _until(lambda: _status(f"{web.url}/healthz") == 200)
    assert _status(f"{web.url}/readyz") == 503

    postgres.start()
    site.product.wait_until_ready(web)
    with site.asking() as asked:
        pass
    whole_answer(asked.wire)
    site.check_accounts(asked.generation_id, asked.wire)


def _status(url: str) -> int | None:
    """None where nobody answers."""
    try:
        return httpx.get(url, timeout=30).status_code
    except httpx.HTTPError:
        return None


def test_usage_arrives_once_when_worker_and_relay_are_killed(
    start_site: Callable[..., Site[Product]],
) -> None:
    names = ("worker", "relay", "aggregator")
    site = start_site(background=names)
    with site.asking() as asked:
        asked.has_begun()
        for name in names:
            site.product.process(name).kill()
    for name in names:
        site.product.process(name).start()

    whole_answer(asked.wire)
    site.check_accounts(asked.generation_id, asked.wire)
    _until(lambda: _published(site, asked))


def test_web_process_ends_on_sigterm_when_no_service_answers(
    start_site: Callable[..., Site[Product]],
) -> None:
    site = start_site()
    web = site.product.webs[0].process
    with site.asking() as asked:
        asked.has_begun()
        for name in ("DATABASE_URL", "REDIS_URL"):
            service = site.product.services.service(name)
            assert service is not None
            service.kill()
        time.sleep(1.0)
        os.kill(web.pid, signal.SIGTERM)
        deadline = time.monotonic() + 60
        while web.is_running:
            assert time.monotonic() < deadline, web.last_words
            time.sleep(0.2)


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def _published(site: Site[Product], asked: Asked) -> bool:
    query = "SELECT published_at FROM billing_outboxevent WHERE event_id = %s"
    [row] = site.product.rows(query, [asked.generation_id])
    return row["published_at"] is not None
