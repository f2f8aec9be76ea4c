"""Models that are added to a running product for as long as a module's tests run."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tests.api.users import sign_up
from tests.support.product import Product

_ADD = """
import json
from backend.generation.pools.rows import pool_save
for one in json.loads({definitions!r}):
    pool_save(model_id=one["id"], definition=one)
"""
_REMOVE = """
from backend.generation.models import Pool
Pool.objects.filter(pk__in={ids!r}).delete()
"""


@contextmanager
def pools_beside(product: Product, definitions: Sequence[dict[str, Any]]) -> Iterator[None]:
    """The product with these models as well, each as a [[model]] of the pools file."""
    ids = {one["id"] for one in definitions}
    try:
        product.inside(_ADD.format(definitions=json.dumps(definitions)))
        _wait_until_known(product, ids)
        yield
    finally:
        product.inside(_REMOVE.format(ids=sorted(ids)))


def _wait_until_known(product: Product, ids: set[str]) -> None:
    """Processes read rows, and probe what is new in them, once a second each."""
    user = sign_up(product.url)
    ends_at = time.monotonic() + 60
    addresses = [f"{url}/api/models" for url in product.urls]
    in_a_row = 0
    while in_a_row < 5:  # for longer than a row of the same name, just removed, is still in force
        known = all(ids <= _ready(user.browser.get(one).json()["data"]) for one in addresses)
        in_a_row = in_a_row + 1 if known else 0
        assert time.monotonic() < ends_at, f"{ids} were not read"
        time.sleep(0.3)
    user.browser.close()


def _ready(models: list[dict[str, Any]]) -> set[str]:
    """Served, and with prices: a process keeps those it has read for some seconds."""
    return {one["id"] for one in models if one["status"] == "ready" and one["prices"]}
