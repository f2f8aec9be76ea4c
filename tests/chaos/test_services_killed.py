"""The engine, Redis, worker and relay die in the middle of an answer: it comes out whole."""

import os
import signal
import time
from collections.abc import Callable

import httpx
import pytest
import redis

from tests.api.users import program
from tests.chaos.conftest import Asked, Site, whole_answer
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
    deadline = time.monotonic() + 60
    while not _published(site, asked):
        assert time.monotonic() < deadline
        time.sleep(0.5)


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


def _published(site: Site[Product], asked: Asked) -> bool:
    query = "SELECT published_at FROM billing_outboxevent WHERE event_id = %s"
    [row] = site.product.rows(query, [asked.generation_id])
    return row["published_at"] is not None
