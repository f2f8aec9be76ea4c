"""Each test starts with nothing kept in the process from another one; brokers of their own."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from billing.prices.loading import forget_books
from infra.services.broker import BrokerService
from infra.services.ports import port_is_free


@pytest.fixture(autouse=True)
def no_kept_prices() -> Iterator[None]:
    forget_books()
    yield
    forget_books()


@pytest.fixture
def broker(tmp_path: Path, settings) -> Iterator[BrokerService]:
    """A broker that this test may kill and empty, in the place of the run's."""
    service = BrokerService(tmp_path / "broker", port=_lasting_port())
    service.start()
    settings.KAFKA_BOOTSTRAP_SERVERS = service.url
    yield service
    service.destroy()


def _lasting_port() -> int:
    """Below the range of outgoing connections: a client that dials a killed broker could
    otherwise be given the broker's own port, and keep it from coming back."""
    return next(
        port for port in iter(lambda: random.randint(15_000, 30_000), 0) if port_is_free(port)
    )
