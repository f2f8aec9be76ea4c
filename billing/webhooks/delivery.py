"""Sending what is due. At least once; a receiver recognises repeats by the event's id.

A receiver may answer slowly, never, or a byte at a time: a delivery has one deadline for all of
it, an organization two deliveries at once, and a run of `deliver_due` an end, so no receiver
holds up another's deliveries, nor the process.

The signature is in `Parley-Signature: t=<unix time>,v1=<hex>`, the HMAC-SHA256 of
`<t>.<body>` with the endpoint's secret; a receiver refuses old times, so a captured request
cannot be sent again later.
"""

import asyncio
import hashlib
import hmac
import time
from datetime import UTC, datetime, timedelta

import httpx2
import orjson
import structlog
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count

from backend.platform.database import in_database
from backend.platform.guarded_client import GuardedClient, guarded_client
from billing.models import WebhookDelivery
from billing.webhook_secrets import SecretUnreadable
from billing.webhooks.addresses import TO_PRIVATE_SWITCH, WHAT
from billing.webhooks.endpoints import note_failure, note_success

log = structlog.get_logger(__name__)

BACKOFF = (
    *(timedelta(seconds=s) for s in (30, 120)),
    *(timedelta(minutes=m) for m in (10, 30)),
    *(timedelta(hours=h) for h in (2, 6, 12, 24)),
)
"""Waits after each failure; after the last the delivery is given up, and can be replayed."""

DEADLINE_S = 10.0
"""For name, connection, request and answer together."""
LEASE = timedelta(seconds=30)
"""Longer than an attempt: after this, what a process claimed and died with is claimed again."""
MAX_AT_ONCE = 32
"""Deliveries of one run."""
MAX_AT_ONCE_PER_ORGANIZATION = 2
"""Counted over all processes."""
CLAIM_FOR_S = 10.0
"""A run begins no delivery after this; beat starts the next one."""


def deliver_due() -> int:
    """Send what is due, for some seconds. Returns how many arrived."""
    return asyncio.run(_deliver_due())


def signature(*, secret: str, body: bytes, at: int) -> str:
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


async def _deliver_due() -> int:
    arrived = 0
    in_flight: set[asyncio.Task[bool]] = set()
    no_claims_after = time.monotonic() + CLAIM_FOR_S
    async with guarded_client(
        to_private=settings.BILLING_WEBHOOKS_TO_PRIVATE,
        what=WHAT,
        switch=TO_PRIVATE_SWITCH,
        timeout_s=DEADLINE_S,
        reads_body=False,
    ) as client:
        while True:
            while len(in_flight) < MAX_AT_ONCE and time.monotonic() < no_claims_after:
                delivery = await in_database(_claim)
                if delivery is None:
                    break
                in_flight.add(asyncio.create_task(_attempt(client, delivery)))
            if not in_flight:
                return arrived
            done, in_flight = await asyncio.wait(in_flight, return_when=asyncio.FIRST_COMPLETED)
            arrived += sum(task.result() for task in done)


@transaction.atomic
def _claim() -> WebhookDelivery | None:
    """Take the delivery that has been due longest, of an organization that has room for it."""
    with connection.cursor() as cursor:
        # One at a time: two claims at once could both see the last room of an organization.
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('billing.webhooks.claim'))")
    now = datetime.now(UTC)
    full = (
        WebhookDelivery.objects.filter(claimed_until__gt=now)
        .values("endpoint__organization_id")
        .annotate(count=Count("pk"))
        .filter(count__gte=MAX_AT_ONCE_PER_ORGANIZATION)
        .values("endpoint__organization_id")
    )
    delivery = (
        WebhookDelivery.objects.select_related("endpoint")
        .filter(
            next_attempt_at__lte=now,
            endpoint__enabled=True,
            endpoint__organization__suspended_at=None,
        )
        .exclude(endpoint__organization_id__in=full)
        .order_by("next_attempt_at")
        .first()
    )
    if delivery is not None:
        delivery.attempts += 1
        delivery.next_attempt_at = delivery.claimed_until = now + LEASE
        delivery.save(update_fields=["attempts", "next_attempt_at", "claimed_until"])
    return delivery


async def _attempt(client: GuardedClient, delivery: WebhookDelivery) -> bool:
    """POST it, and store how it went."""
    status, error = None, ""
    try:
        async with asyncio.timeout(DEADLINE_S):
            status = await _post(client, delivery)
        if not 200 <= status < 300:
            error = f"answered {status}"
    except (TimeoutError, httpx2.TimeoutException):
        error = f"no answer within {DEADLINE_S:g} s"
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, SecretUnreadable) as failure:
        error = str(failure) or repr(failure)
    except Exception as failure:
        # Whatever a customer's URL or server brings about, it is that delivery's failure alone.
        log.exception("webhook_failed_unexpectedly", delivery=str(delivery.pk))
        error = f"{type(failure).__name__}: {failure}"
    try:
        await in_database(_store, delivery, status, error.replace("\x00", "")[:300])
    except Exception:
        log.exception("webhook_outcome_not_stored", delivery=str(delivery.pk))
        return False
    return not error


async def _post(client: GuardedClient, delivery: WebhookDelivery) -> int:
    body = orjson.dumps(delivery.payload)
    at = int(time.time())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Parley-Webhooks/1",
        "Parley-Event-Id": str(delivery.event_id),
        "Parley-Event-Type": delivery.type,
        "Parley-Signature": signature(secret=delivery.endpoint.secret, body=body, at=at),
    }
    request = client.stream(
        "POST",
        delivery.endpoint.url,
        content=body,
        headers=headers,
    )
    # Closing without reading: what the receiver answers beside the status does not matter.
    async with request as response:
        return response.status_code


@transaction.atomic
def _store(delivery: WebhookDelivery, status: int | None, error: str) -> None:
    """Write the outcome down, unless the delivery was deleted or replayed in the meantime."""
    now = datetime.now(UTC)
    if not error:
        next_attempt_at = None
    elif delivery.attempts <= len(BACKOFF):
        next_attempt_at = now + BACKOFF[delivery.attempts - 1]
    else:
        next_attempt_at = None
        log.warning("webhook_given_up", delivery=str(delivery.pk), error=error)
    WebhookDelivery.objects.filter(pk=delivery.pk, attempts=delivery.attempts).update(
        status_code=status,
        error=error,
        delivered_at=None if error else now,
        next_attempt_at=next_attempt_at,
        claimed_until=None,
    )
    if error:
        note_failure(delivery.endpoint_id, error=error, now=now)
    else:
        note_success(delivery.endpoint_id)
