"""More requests than can be served: the rest is refused before it is looked at."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tests.api.users import program
from tests.chaos.conftest import Site
from tests.support.product import Product

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(300)]

_ONE_PLACE = """
[[model]]
id = "words"
context_window = 8192
max_output_tokens = 4096
max_concurrency = 1
capabilities = ["chat", "completions", "streaming"]
price_per_1k = { input = "0.0001", cached_input = "0.00005", output = "0.0002" }

[[model.replica]]
name = "synthetic"
url = "${PARLEY_ENGINE_URL}"
"""
_QUESTION = {
    "model": "words",
    "messages": [{"role": "user", "content": "Say words."}],
    "max_tokens": 64,
}


def test_requests_are_shed_while_queue_is_full(
    own_site: Callable[[dict[str, str]], Site[Product]], tmp_path: Path
) -> None:
    pools = tmp_path / "pools.toml"
    pools.write_text(_ONE_PLACE)
    site = own_site({"PARLEY_POOLS": str(pools), "PARLEY_MAX_QUEUED_GENERATIONS": "1"})
    site.upstream.behaviour.rate = 4.0
    with program(site.product.url, site.person.new_key()["secret"]) as client:
        answers: list[httpx.Response] = []
        crowd = [
            threading.Thread(
                target=lambda: answers.append(client.post("/v1/chat/completions", json=_QUESTION))
            )
            for _ in range(2)
        ]
        for asking in crowd:
            asking.start()
        _wait_until(lambda: _gauge(site, "generations_queued") == 1.0)

        refused = client.post("/v1/chat/completions", json=_QUESTION)
        assert refused.status_code == 503
        assert refused.json()["error"]["code"] == "overloaded"
        assert int(refused.headers["Retry-After"]) >= 1
        assert refused.headers["X-Request-Id"]
        assert _gauge(site, "requests_shed_total") == 1.0
        assert client.get("/v1/models").status_code == 200

        site.upstream.behaviour.rate = 100.0
        for asking in crowd:
            asking.join()
        assert [answer.status_code for answer in answers] == [200, 200]
        assert client.post("/v1/chat/completions", json=_QUESTION).status_code == 200


def _gauge(site: Site[Product], name: str) -> float:
    """The sum of a metric over its labels, as operators read it."""
    lines = httpx.get(f"{site.product.url}/metrics", timeout=60).text.splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith(f"parley_{name}{{"))


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
