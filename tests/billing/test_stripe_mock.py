"""The stand-in of Stripe beside Stripe's own, which knows each parameter of its API.

`PARLEY_STRIPE_MOCK` is the path of its program (https://github.com/stripe/stripe-mock).
"""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import uuid4

import httpx
import pytest

from billing.payments.stripe_api import StripeProvider
from infra.services.ports import free_port
from tests.support import stripe_server
from tests.support.stripe_rules import PARAMETERS
from tests.support.stripe_server import StripeServer

PROGRAM = os.environ.get("PARLEY_STRIPE_MOCK", "")
pytestmark = [
    pytest.mark.nightly(
        beside="tests/billing/test_charging.py::test_refused_request_is_a_failed_charge"
    ),
    pytest.mark.skipif(not PROGRAM, reason="PARLEY_STRIPE_MOCK does not say where stripe-mock is"),
]
_CALLS: dict[str, Callable[[StripeProvider], Any]] = {
    "customer": lambda it: it.customer_create(
        organization_id=uuid4(), name="Example", email="money@example.org"
    ),
    "method page": lambda it: it.method_page(
        customer_id="cus_1", currency="EUR", return_url="https://example.org/billing"
    ),
    "top-up page": lambda it: it.top_up_page(
        customer_id="cus_1", top_up_id=uuid4(), amount=Decimal(25), currency="KWD",
        return_url="https://example.org/billing",
    ),
    "charge": lambda it: it.invoice_charge(
        customer_id="cus_1", method_id=stripe_server.CARD, invoice_id=1, attempt=1,
        amount=Decimal(30), currency="USD",
    ),
    "lookup": lambda it: it.charge_find(
        customer_id="cus_1", invoice_id=1, attempt=1, since=datetime.now(UTC)
    ),
    "method removed": lambda it: it.method_remove(method_id=stripe_server.CARD),
}  # fmt: skip


@pytest.fixture(scope="module")
def mock() -> Iterator[str]:
    port = free_port()
    process = subprocess.Popen([PROGRAM, "-http-addr", f"127.0.0.1:{port}"])
    url = f"http://127.0.0.1:{port}"
    while process.poll() is None:
        try:
            httpx.get(url)
            break
        except httpx.TransportError:
            time.sleep(0.05)
    yield url
    process.terminate()
    process.wait()


@pytest.fixture
def urls(mock: str, stripe: StripeServer) -> dict[str, str]:
    return {"stripe-mock": mock, "stand-in": stripe.url}


@pytest.mark.parametrize("call", _CALLS)
def test_both_take_what_the_product_asks(urls: dict[str, str], call: str) -> None:
    for url in urls.values():
        _CALLS[call](
            StripeProvider(secret_key=stripe_server.SECRET_KEY, webhook_secret="", url=url)
        )


def ask(url: str, endpoint: str, form: dict[str, str]) -> int:
    method, path = endpoint.replace("*", "pm_1").split()
    headers = {"Authorization": f"Bearer {stripe_server.SECRET_KEY}"}
    headers |= {"Stripe-Version": "2026-08-26.dahlia"}
    headers |= {"Content-Type": "application/x-www-form-urlencoded"}  # also of an empty body
    sent: dict[str, Any] = {"params" if method == "GET" else "data": form}
    return httpx.request(method, url + path, headers=headers, **sent).status_code


@pytest.mark.parametrize("endpoint", PARAMETERS)
def test_both_refuse_an_unknown_parameter(urls: dict[str, str], endpoint: str) -> None:
    form = {name[1:]: "1" for name in PARAMETERS[endpoint] if name.startswith("!")}
    form["colour"] = "blue"
    assert {name: ask(url, endpoint, form) for name, url in urls.items()} == dict.fromkeys(
        urls, 400
    )


@pytest.mark.parametrize("endpoint", PARAMETERS)
def test_stripe_knows_each_parameter(mock: str, endpoint: str) -> None:
    """A parameter that the stand-in takes is one of Stripe's, by its name."""
    values = {"mode": "setup", "confirm": "true", "off_session": "true", "created[gte]": "1"}
    values["expand[0]"] = "payment_method"
    form = {}
    for name in PARAMETERS[endpoint]:
        name = name.lstrip("!")
        number = name.endswith(("amount]", "amount", "quantity]", "limit"))
        form[name.replace("[*]", "[key]")] = values.get(name, "10" if number else "usd")
    assert ask(mock, endpoint, form) == 200


@pytest.mark.parametrize("endpoint", [e for e in PARAMETERS if "!" in "".join(PARAMETERS[e])])
def test_both_refuse_a_missing_parameter(urls: dict[str, str], endpoint: str) -> None:
    assert {name: ask(url, endpoint, {}) for name, url in urls.items()} == dict.fromkeys(urls, 400)
