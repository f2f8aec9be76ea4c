"""`make tenant-walk TRIES=10000`: random requests of one organization for what is another's.

A product of its own, with one web process, its background and a synthetic model. Prints the seed
(SEED=… walks the same again), tries, routes, answers and leaks; ends with 1 where there is a leak
or an answer of 5xx.
"""

import argparse
import secrets
import sys
import tempfile
import time
from pathlib import Path

from tests.support.product import Product
from tests.support.upstream import UpstreamThread
from tests.tenancy.belongings import Belongings, everything
from tests.tenancy.cast import new_cast
from tests.tenancy.walk import Report, rows_of, walk

# What would end a walk early: everybody comes from one address, and tries without end.
_AMPLE = {
    "PARLEY_MODERATIONS_PER_MINUTE": "1000000",
    "PARLEY_UPLOADS_PER_MINUTE": "1000000",
    "PARLEY_SEARCHES_PER_MINUTE": "1000000",
    "PARLEY_INVITATIONS_PER_HOUR": "1000000",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    arguments = parser.parse_args()
    upstream = UpstreamThread(rate=0.0)
    upstream.start()
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o711)  # the database's account passes it
        product = Product(Path(directory) / "product", engine_url=upstream.url, settings=_AMPLE)
        try:
            product.start()
            report = _walk(product, arguments.tries, arguments.seed)
        finally:
            product.stop()
            upstream.stop()
            upstream.close()
    print(report)
    return 1 if report.leaks or report.failures else 0


def _walk(product: Product, tries: int, seed: int) -> Report:
    canary = f"canary{secrets.token_hex(6)}"
    victim = everything(product.url, canary)
    _settle(product, victim, canary)
    return walk(product, victim, canary, lambda: new_cast(product.url), tries=tries, seed=seed)


def _settle(product: Product, victim: Belongings, canary: str) -> None:
    """Until the background has done with what the victim began: titles, an export, a batch."""
    for _ in range(60):
        before = rows_of(product, victim, canary)
        time.sleep(10)
        if rows_of(product, victim, canary) == before:
            return
    raise TimeoutError("the victim's rows still change by themselves")


if __name__ == "__main__":
    sys.exit(main())
