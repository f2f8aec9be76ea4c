"""Four models beside a product's own, each with an upstream that says what a test tells it to."""

import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import httpx

from tests.api.users import program, sign_up
from tests.support.pools import pools_beside
from tests.support.product import Product
from tests.support.upstream import UpstreamThread

NAMES = {"alder": "Alder", "birch": "Birch", "cedar": "Cedar", "elm": "Elm"}


@contextmanager
def compared_models(product: Product) -> Iterator[dict[str, UpstreamThread]]:
    """Their upstreams, by model; Birch costs twice as much as Alder."""
    with ExitStack() as stack:
        upstreams = {model: UpstreamThread(rate=0.0) for model in NAMES}
        for upstream in upstreams.values():
            upstream.start()
            stack.callback(upstream.close)
            stack.callback(upstream.stop)
        definitions = [
            {
                "id": model,
                "name": NAMES[model],
                "context_window": 4096,
                "max_output_tokens": 1024,
                "capabilities": ["chat", "streaming", "tools"],
                "price_per_1k": {"input": price, "cached_input": price, "output": price},
                "replica": [{"name": model, "url": upstreams[model].url}],
            }
            for model, price in zip(NAMES, ("1", "2", "1", "1"), strict=True)
        ]
        stack.enter_context(pools_beside(product, definitions))
        yield upstreams


def end(product: Product, model: str, upstream: UpstreamThread) -> None:
    """It ends, and the first web process knows: who never asked before is refused, or answered by
    another model."""
    upstream.stop()
    newcomer = sign_up(product.url)
    body = {"model": model, "messages": [{"role": "user", "content": "Hello"}]}
    ends_at = time.monotonic() + 60
    # A request that came before its death is known would wait half a minute for it to come back.
    # Asked is the process itself: what the page shows may be what another one has found out.
    while _is_up(product, model):
        assert time.monotonic() < ends_at, f"{model} still counts as ready"
        time.sleep(0.2)
    with program(product.url, str(newcomer.new_key()["secret"])) as client:
        while not _is_out(client.post("/v1/chat/completions", json=body)):
            assert time.monotonic() < ends_at, f"{model} still counts as served"
            time.sleep(0.2)
    newcomer.browser.close()


def _is_up(product: Product, model: str) -> bool:
    """As the first web process has found."""
    metrics = httpx.get(f"{product.url}/metrics", timeout=30).raise_for_status().text
    up = re.findall(rf'^parley_replica_up{{model="{model}",.*}} (\S+)$', metrics, re.MULTILINE)
    return any(float(one) for one in up)


def _is_out(answer: httpx.Response) -> bool:
    return answer.status_code == 503 or "x-parley-fallback-from" in answer.headers


def says(upstream: UpstreamThread, text: str, *, rate: float = 0.0) -> None:
    """Each of its answers from now on: a word a token, so many a second, 0 at once."""
    upstream.behaviour.script = [f"{word} " for word in text.split(" ")]
    upstream.behaviour.rate = rate
