"""Four models beside a product's own, each with an upstream that says what a test tells it to."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

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


def says(upstream: UpstreamThread, text: str, *, rate: float = 0.0) -> None:
    """Each of its answers from now on: a word a token, so many a second, 0 at once."""
    upstream.behaviour.script = [f"{word} " for word in text.split(" ")]
    upstream.behaviour.rate = rate
