"""Webhooks arrive signed, are retried and can be replayed, and never reach our own network."""

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from django.utils import timezone

from backend.platform.errors import InvalidRequest, NotFound, PermissionDenied
from billing.budgets.alerts import check_budgets
from billing.budgets.services import budget_set
from billing.models import WebhookDelivery, WebhookEndpoint
from billing.prices.services import prices_seed
from billing.webhooks.addresses import resolve
from billing.webhooks.delivery import BACKOFF, deliver_due
from billing.webhooks.services import webhook_create, webhook_delete, webhook_replay
from tests.billing import factories
from tests.billing.test_budget_alerts import spend
from tests.billing.test_budgets_inline import PRICES

pytestmark = pytest.mark.django_db


class Receiver:
    """A customer's server: remembers what it got and answers as told."""

    def __init__(self) -> None:
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.status = 200
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.requests.append((dict(self.headers), body))
                self.send_response(receiver.status)
                self.send_header("Location", "http://127.0.0.1:1/")
                self.end_headers()

            def log_message(self, *args: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://localhost:{self.server.server_port}/hook?a=1"


@pytest.fixture
def receiver(settings) -> Iterator[Receiver]:
    settings.BILLING_WEBHOOKS_TO_PRIVATE = True
    receiver = Receiver()
    thread = threading.Thread(target=receiver.server.serve_forever)
    thread.start()
    yield receiver
    receiver.server.shutdown()
    thread.join()
    receiver.server.server_close()


@pytest.fixture
def delivery(receiver: Receiver) -> WebhookDelivery:
    """A budget at 60 % has just told its organization's endpoint."""
    prices_seed(prices=PRICES)
    caller = factories.principal()
    webhook_create(principal=caller, url=receiver.url, types=["budget.threshold_reached"])
    webhook_create(principal=caller, url=receiver.url, types=["invoice.issued"])
    webhook_create(
        principal=factories.principal(), url=receiver.url, types=["budget.threshold_reached"]
    )
    budget_set(principal=caller, amount=Decimal(100), is_hard=True)
    spend(caller, 60)
    check_budgets()
    return WebhookDelivery.objects.get()


def become_due() -> None:
    WebhookDelivery.objects.update(next_attempt_at=timezone.now() - timedelta(seconds=1))


def test_it_arrives_once_signed_and_only_where_it_was_asked_for(delivery, receiver):
    assert deliver_due() == 1
    assert deliver_due() == 0
    [(headers, body)] = receiver.requests
    assert json.loads(body)["data"]["threshold_percent"] == 50
    assert json.loads(body)["id"] == headers["Parley-Event-Id"] == str(delivery.event_id)
    parts = dict(part.split("=", 1) for part in headers["Parley-Signature"].split(","))
    signed = f"{parts['t']}.".encode() + body
    secret = delivery.endpoint.secret.encode()
    assert hmac.compare_digest(parts["v1"], hmac.new(secret, signed, hashlib.sha256).hexdigest())
    assert abs(datetime.now(UTC).timestamp() - int(parts["t"])) < 60
    delivery.refresh_from_db()
    assert delivery.state == "delivered"


@pytest.mark.parametrize("status", [500, 404, 301])
def test_what_is_not_accepted_is_tried_again_later(delivery, receiver, status):
    receiver.status = status
    assert deliver_due() == 0
    assert deliver_due() == 0
    assert len(receiver.requests) == 1
    delivery.refresh_from_db()
    assert delivery.state == "pending"
    assert delivery.status_code == status
    receiver.status = 204
    become_due()
    assert deliver_due() == 1


def test_it_is_given_up_in_the_end_and_can_be_replayed(delivery, receiver):
    receiver.status = 503
    for _ in range(len(BACKOFF) + 1):
        become_due()
        deliver_due()
    delivery.refresh_from_db()
    assert delivery.state == "failed"
    assert len(receiver.requests) == len(BACKOFF) + 1

    owner = factories.principal(organization=delivery.endpoint.organization)
    receiver.status = 200
    webhook_replay(principal=owner, delivery_id=delivery.pk)
    assert deliver_due() == 1
    ids = {headers["Parley-Event-Id"] for headers, _ in receiver.requests}
    assert ids == {str(delivery.event_id)}


def test_a_server_that_is_away_is_a_failure_like_any_other(delivery):
    WebhookEndpoint.objects.update(url="http://127.0.0.1:9/")
    assert deliver_due() == 0
    delivery.refresh_from_db()
    assert delivery.state == "pending"
    assert delivery.error


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/",
        "https://localhost/",
        "https://[::1]/",
        "https://10.0.0.1/",
        "https://169.254.169.254/latest/meta-data",
        "https://[::ffff:127.0.0.1]/",
        "https://0.0.0.0/",
        "http://93.184.216.34/",
        "ftp://93.184.216.34/",
        "https://user@93.184.216.34/",
        "https://",
        "https://[",
        "https://example.com:99999/",
        "https://example.com/\x00",
        "https://example.com/ x",
    ],
)
def test_our_own_network_is_out_of_reach(url):
    with pytest.raises(InvalidRequest):
        resolve(url)


def test_a_public_address_is_named_and_checked_at_once():
    target = resolve("https://93.184.216.34:8443/hook?x=1")
    assert (target.url, target.host) == (
        "https://93.184.216.34:8443/hook?x=1",
        "93.184.216.34:8443",
    )


def test_endpoints_belong_to_those_who_manage_the_organizations_money(settings):
    settings.BILLING_WEBHOOKS_TO_PRIVATE = True
    owner, url = factories.principal(), "https://example.com/hook"
    with pytest.raises(PermissionDenied):
        webhook_create(
            principal=factories.principal(role="member"), url=url, types=["invoice.issued"]
        )
    with pytest.raises(InvalidRequest):
        webhook_create(principal=owner, url=url, types=["everything"])
    endpoint = webhook_create(principal=owner, url=url, types=["invoice.issued"])
    with pytest.raises(NotFound):
        webhook_delete(principal=factories.principal(), endpoint_id=endpoint.pk)
    webhook_delete(principal=owner, endpoint_id=endpoint.pk)
    assert not WebhookEndpoint.objects.exists()
