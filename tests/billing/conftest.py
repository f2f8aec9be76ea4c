"""Each test starts with nothing kept in the process from another one."""

from collections.abc import Iterator

import pytest

from billing.prices.loading import forget_books


@pytest.fixture(autouse=True)
def no_kept_prices() -> Iterator[None]:
    forget_books()
    yield
    forget_books()
