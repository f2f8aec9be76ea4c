"""Random requests of one organization for what is another's: nothing crosses.

100 tries in the tests; `make tenant-walk TRIES=10000` prints its seed, and walks the
same way again with SEED=…
"""

import os
import secrets

import pytest

from tests.support.scripted import ScriptedProduct
from tests.tenancy.belongings import everything
from tests.tenancy.cast import new_cast
from tests.tenancy.walk import walk

TRIES = int(os.environ.get("TRIES", "100"))
SEED = int(os.environ.get("SEED") or secrets.randbits(32))


@pytest.mark.timeout(0)
def test_random_requests_show_and_change_nothing_of_another_organization(
    scripted_product: ScriptedProduct,
) -> None:
    canary = f"canary{secrets.token_hex(6)}"
    victim = everything(scripted_product.url, canary)
    report = walk(
        scripted_product,
        victim,
        canary,
        lambda: new_cast(scripted_product),
        tries=TRIES,
        seed=SEED,
    )
    victim.owner.browser.close()
    print(f"\n{report}")
    assert report.tries == TRIES
    assert not report.leaks, report
    assert not report.failures, report
