"""Webhooks arrive signed, are retried and can be replayed, and never reach our own network."""

import hashlib
import hmac
import json
import ssl
import threading
import time
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import uuid4

import httpx
import pytest
from django.db import connection, transaction
from django.utils import timezone

from backend.accounts.principal import Principal
from backend.platform.errors import InvalidRequest, NotFound, PermissionDenied
from backend.platform.outbound import resolve
from billing.budgets.alerts import check_budgets
from billing.budgets.services import budget_set
from billing.models import WebhookDelivery, WebhookEndpoint
from billing.prices.services import prices_seed
from billing.webhooks.delivery import BACKOFF, deliver_due
from billing.webhooks.services import webhook_create, webhook_delete, webhook_replay
from tests.billing import factories
from tests.billing.receivers import Receiver
from tests.billing.test_budget_alerts import spend
from tests.billing.test_budgets_inline import PRICES
from tests.support.certificates import Authority

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def delivery(receiver: Receiver) -> WebhookDelivery:
    """A budget at 60 % has just queued an event for its organization's endpoint."""
    prices_seed(prices=PRICES)
    caller = factories.principal()
    webhook_create(principal=caller, url=receiver.url, types=["budget.threshold_reached"])
    webhook_create(principal=caller, url=receiver.url, types=["invoice.issued"])
    webhook_create(
        principal=factories.principal(), url=receiver.url, types=["budget.threshold_reached"]
    )
    budget_set(principal=caller, amount=Decimal(100), is_hard=True)
    with transaction.atomic():
        spend(caller, 60)
    check_budgets()
    return WebhookDelivery.objects.get()


def queue(url: str, *, count: int = 1, caller: Principal | None = None) -> WebhookEndpoint:
    """Deliveries that are due, to a new endpoint (of a new organization, when none is given)."""
    caller = caller or factories.principal()
    endpoint = WebhookEndpoint(
        organization_id=caller.organization_id, url=url, types=["invoice.issued"]
    )
    endpoint.secret_renew()
    endpoint.save()
    for _ in range(count):
        event_id = uuid4()
        WebhookDelivery.objects.create(
            endpoint=endpoint,
            event_id=event_id,
            type="invoice.issued",
            payload={"id": str(event_id)},
            next_attempt_at=timezone.now() - timedelta(minutes=1),
        )
    return endpoint


def become_due() -> None:
    WebhookDelivery.objects.update(next_attempt_at=timezone.now() - timedelta(seconds=1))


def test_event_is_delivered_once_and_signed_to_subscribed_endpoints(delivery, receiver):
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
def test_delivery_is_retried_when_receiver_does_not_accept_it(delivery, receiver, status):
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


def test_delivery_is_given_up_after_the_last_retry_and_can_be_replayed(delivery, receiver):
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


@pytest.mark.parametrize(
    "url",
    [
        "https://a..b/",
        f"https://{'a' * 64}.example/",
        "https://b\u00fccher.example/\u00fc",
        "nonsense",
    ],
)
def test_delivery_that_fails_unexpectedly_does_not_stop_the_others(receiver, url):
    broken, good = queue(url, count=3), queue(receiver.url)
    assert deliver_due() == 1
    assert receiver.event_ids == [str(good.deliveries.get().event_id)]
    for delivery in broken.deliveries.all():
        assert (delivery.attempts, delivery.state) == (1, "pending")
        assert delivery.error
        assert delivery.next_attempt_at is not None
        assert delivery.next_attempt_at > timezone.now() + timedelta(seconds=20)


@pytest.mark.timeout(60)
def test_dripping_receiver_is_cut_off_and_delays_no_other(receiver, dripping, monkeypatch):
    monkeypatch.setattr("billing.webhooks.delivery.DEADLINE_S", 1.0)
    slow, good = queue(dripping.url, count=4), queue(receiver.url, count=4)
    started = time.monotonic()
    assert deliver_due() == 4
    assert time.monotonic() - started < 20  # two at once, one second each; never for ever
    assert sorted(receiver.event_ids) == sorted(
        str(delivery.event_id) for delivery in good.deliveries.all()
    )
    assert dripping.connections == 4
    assert {delivery.error for delivery in slow.deliveries.all()} == {"no answer within 1 s"}


@pytest.mark.timeout(60)
def test_one_customer_gets_at_most_two_deliveries_at_once(receiver):
    receiver.delay_s = 0.3
    caller = factories.principal()
    for _ in range(3):
        queue(receiver.url, count=3, caller=caller)
    runs = [threading.Thread(target=run_and_disconnect) for _ in range(3)]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert len(receiver.requests) == 9
    assert receiver.most_at_once == 2


def run_and_disconnect() -> None:
    try:
        deliver_due()
    finally:
        connection.close()


def test_delivery_replayed_while_it_is_sent_is_sent_again(delivery, receiver):
    owner = factories.principal(organization=delivery.endpoint.organization)
    receiver.delay_s = 0.5
    run = threading.Thread(target=run_and_disconnect)
    run.start()
    while not receiver.at_once:
        time.sleep(0.01)
    replayed = webhook_replay(principal=owner, delivery_id=delivery.pk)
    run.join()
    delivery.refresh_from_db()
    assert (delivery.attempts, delivery.state) == (0, "pending")
    assert delivery.next_attempt_at == replayed.next_attempt_at
    become_due()
    assert deliver_due() == 1
    assert receiver.event_ids == [str(delivery.event_id)] * 2


def test_endpoint_deleted_while_it_is_called_stops_nothing(delivery, receiver):
    owner = factories.principal(organization=delivery.endpoint.organization)
    receiver.delay_s = 0.5
    run = threading.Thread(target=run_and_disconnect)
    run.start()
    while not receiver.at_once:
        time.sleep(0.01)
    webhook_delete(principal=owner, endpoint_id=delivery.endpoint_id)
    run.join()
    assert deliver_due() == 0
    assert len(receiver.requests) == 1


def test_delivery_is_retried_when_server_is_unreachable(delivery):
    WebhookEndpoint.objects.update(url="http://127.0.0.1:9/")
    assert deliver_due() == 0
    delivery.refresh_from_db()
    assert delivery.state == "pending"
    assert delivery.error


@pytest.mark.parametrize("status", [302, 307, 308])
def test_redirect_is_not_followed(receiver, status):
    elsewhere = Receiver()
    try:
        receiver.status, receiver.location = status, elsewhere.url
        queue(receiver.url)
        assert deliver_due() == 0
        assert len(receiver.requests) == 1
        assert elsewhere.requests == []
    finally:
        elsewhere.stop()


def test_delivery_needs_a_certificate_that_is_trusted(settings, tmp_path):
    settings.BILLING_WEBHOOKS_TO_PRIVATE = True
    authority = Authority(tmp_path)
    receiver = Receiver(authority.server_context("receiver"))
    try:
        queue(receiver.url)
        assert deliver_due() == 0
        assert receiver.requests == []
        assert "certificate" in WebhookDelivery.objects.get().error.lower()
        trusting = ssl.create_default_context(cafile=str(authority.file))
        assert httpx.post(receiver.url, content=b"{}", verify=trusting).status_code == 200
    finally:
        receiver.stop()


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
        "https://a..b/",
        "https://.example.com/",
        f"https://{'a' * 64}.example/",
        f"https://{'a.' * 127}example/",
        "https://-a.example/",
        "https://a%20b.example/",
        "https://[64:ff9b::7f00:1]/",
        "https://[64:ff9b::5db8:d822]/",
        "https://[2002:7f00:1::1]/",
        "https://[fec0::1]/",
    ],
)
def test_url_that_is_invalid_or_not_public_is_refused(url):
    with pytest.raises(InvalidRequest):
        resolve(url, to_private=False)


def test_private_address_names_its_switch(settings):
    settings.BILLING_WEBHOOKS_TO_PRIVATE = False
    with pytest.raises(
        InvalidRequest, match=r"set PARLEY_BILLING_WEBHOOKS_TO_PRIVATE=1\.$"
    ) as refused:
        webhook_create(
            principal=factories.principal(), url="https://10.0.0.1/", types=["invoice.issued"]
        )
    assert refused.value.code == "address_not_public"
    assert refused.value.details == {"setting": "PARLEY_BILLING_WEBHOOKS_TO_PRIVATE"}


def test_public_address_is_connected_to_as_it_was_checked():
    target = resolve("https://93.184.216.34:8443/hook?x=1", to_private=False)
    assert (target.url, target.host) == (
        "https://93.184.216.34:8443/hook?x=1",
        "93.184.216.34:8443",
    )


def test_endpoints_are_managed_by_their_organizations_managers_only(settings):
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
