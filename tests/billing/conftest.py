"""Each test starts with an empty price cache; brokers and receivers of their own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from billing.prices.loading import clear_price_cache
from infra.services.broker import BrokerService
from infra.services.ports import free_port
from tests.billing.receivers import DrippingReceiver, Receiver
from tests.support import stripe_server
from tests.support.stripe_server import StripeServer


@pytest.fixture(autouse=True)
def empty_price_cache() -> Iterator[None]:
    clear_price_cache()
    yield
    clear_price_cache()


@pytest.fixture
def broker(tmp_path: Path, settings) -> Iterator[BrokerService]:
    """A broker that this test may kill and empty, in the place of the run's."""
    service = BrokerService(tmp_path / "broker", port=free_port())
    service.start()
    settings.KAFKA_BOOTSTRAP_SERVERS = service.url
    yield service
    service.destroy()


@pytest.fixture
def receiver(settings) -> Iterator[Receiver]:
    settings.BILLING_WEBHOOKS_TO_PRIVATE = True
    receiver = Receiver()
    yield receiver
    receiver.stop()


@pytest.fixture
def dripping(settings) -> Iterator[DrippingReceiver]:
    settings.BILLING_WEBHOOKS_TO_PRIVATE = True
    receiver = DrippingReceiver()
    yield receiver
    receiver.stop()


@pytest.fixture
def stripe(settings: Any) -> Iterator[StripeServer]:
    server = StripeServer()
    settings.STRIPE_SECRET_KEY = stripe_server.SECRET_KEY
    settings.STRIPE_WEBHOOK_SECRET = stripe_server.WEBHOOK_SECRET
    settings.STRIPE_URL = server.url
    settings.BILLING_DUNNING = True
    yield server
    server.stop()
