"""Sending what is due. At least once; a receiver tells repeats by the event's id.

The signature is in `Parley-Signature: t=<unix time>,v1=<hex>`, the HMAC-SHA256 of
`<t>.<body>` with the endpoint's secret; a receiver refuses old times, so a captured request
cannot be sent again later.
"""

import hashlib
import hmac
import time
from datetime import UTC, datetime, timedelta

import httpx
import orjson
import structlog
from django.db import transaction

from backend.platform.errors import InvalidRequest
from billing.models import WebhookDelivery
from billing.webhooks.addresses import resolve

log = structlog.get_logger(__name__)

BACKOFF = (
    *(timedelta(seconds=s) for s in (30, 120)),
    *(timedelta(minutes=m) for m in (10, 30)),
    *(timedelta(hours=h) for h in (2, 6, 12, 24)),
)
"""Waits after each failure; after the last the delivery is given up, and can be replayed."""

TIMEOUT_S = 10.0
LEASE = timedelta(seconds=60)
"""Longer than an attempt: whoever claims a delivery and dies leaves it to others after this."""


def deliver_due(*, limit: int = 100) -> int:
    """Send up to `limit` deliveries that are due. Returns how many arrived."""
    arrived = 0
    for _ in range(limit):
        delivery = _claim()
        if delivery is None:
            break
        arrived += _attempt(delivery)
    return arrived


def signature(*, secret: str, body: bytes, at: int) -> str:
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


@transaction.atomic
def _claim() -> WebhookDelivery | None:
    """Take the delivery that has been due longest; others skip it until the lease ends."""
    now = datetime.now(UTC)
    delivery = (
        WebhookDelivery.objects.select_related("endpoint")
        .select_for_update(skip_locked=True, of=("self",))
        .filter(next_attempt_at__lte=now, endpoint__enabled=True)
        .order_by("next_attempt_at")
        .first()
    )
    if delivery is not None:
        delivery.attempts += 1
        delivery.next_attempt_at = now + LEASE
        delivery.save(update_fields=["attempts", "next_attempt_at"])
    return delivery


def _attempt(delivery: WebhookDelivery) -> bool:
    """POST it, and store how it went."""
    delivery.status_code, delivery.error = None, ""
    try:
        delivery.status_code = _post(delivery)
        if not 200 <= delivery.status_code < 300:
            delivery.error = f"answered {delivery.status_code}"
    except (httpx.HTTPError, OSError, InvalidRequest) as error:
        delivery.error = (str(error) or repr(error))[:300]
    now = datetime.now(UTC)
    if not delivery.error:
        delivery.delivered_at, delivery.next_attempt_at = now, None
    elif delivery.attempts <= len(BACKOFF):
        delivery.next_attempt_at = now + BACKOFF[delivery.attempts - 1]
    else:
        delivery.next_attempt_at = None
        log.warning("webhook_given_up", delivery=str(delivery.pk), error=delivery.error)
    delivery.save(update_fields=["status_code", "error", "delivered_at", "next_attempt_at"])
    return not delivery.error


def _post(delivery: WebhookDelivery) -> int:
    target = resolve(delivery.endpoint.url)
    body = orjson.dumps(delivery.payload)
    at = int(time.time())
    headers = {
        "Host": target.host,
        "Content-Type": "application/json",
        "User-Agent": "Parley-Webhooks/1",
        "Parley-Event-Id": str(delivery.event_id),
        "Parley-Event-Type": delivery.type,
        "Parley-Signature": signature(secret=delivery.endpoint.secret, body=body, at=at),
    }
    # Closing without reading: what the receiver answers beside the status does not matter.
    with (
        httpx.Client(timeout=TIMEOUT_S, follow_redirects=False, trust_env=False) as client,
        client.stream(
            "POST",
            target.url,
            content=body,
            headers=headers,
            extensions={"sni_hostname": target.name},
        ) as response,
    ):
        return response.status_code
