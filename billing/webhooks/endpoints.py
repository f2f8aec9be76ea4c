"""Whether an endpoint still works: it is called no more once it has failed for long enough.

Owners are written to when that happens. What was waiting for it waits on, and is sent when the
endpoint is enabled again; what happens in the meantime is not queued for it.
"""

from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.utils.translation import gettext, ngettext

from backend.platform.languages import minute, writing_in
from billing.accounts import owner_contacts
from billing.models import WebhookEndpoint

log = structlog.get_logger(__name__)

MAX_FAILURES = 10
"""In a row; disabled if they also span `MAX_FAILING`, so that a bad hour does not suffice."""
MAX_FAILING = timedelta(hours=24)
MAX_FAILURES_AT_ALL = 100
"""In a row, in however short a time."""


def note_success(endpoint_id: UUID) -> None:
    failing = WebhookEndpoint.objects.filter(pk=endpoint_id, failures__gt=0)
    failing.update(failures=0, failing_since=None)


def note_failure(endpoint_id: UUID, *, error: str, now: datetime) -> None:
    """Count it, and disable the endpoint where that was one too many. In a transaction."""
    endpoint = WebhookEndpoint.objects.select_for_update().filter(pk=endpoint_id).first()
    if endpoint is None:
        return
    endpoint.failures += 1
    endpoint.failing_since = endpoint.failing_since or now
    if endpoint.enabled and _must_be_disabled(endpoint, now):
        endpoint.enabled, endpoint.disabled_at = False, now
        log.warning("webhook_disabled", endpoint=str(endpoint.pk), failures=endpoint.failures)
        transaction.on_commit(lambda: _notify(endpoint, error))
    endpoint.save(update_fields=["failures", "failing_since", "enabled", "disabled_at"])


def _must_be_disabled(endpoint: WebhookEndpoint, now: datetime) -> bool:
    assert endpoint.failing_since is not None
    long_enough = now - endpoint.failing_since >= MAX_FAILING
    return endpoint.failures >= MAX_FAILURES_AT_ALL or (
        endpoint.failures >= MAX_FAILURES and long_enough
    )


def _notify(endpoint: WebhookEndpoint, error: str) -> None:
    for contact in owner_contacts(endpoint.organization_id):
        with writing_in(contact.language):
            send_mail(
                subject=gettext("A Parley webhook is disabled"),
                message=_text(endpoint, error),
                from_email=settings.DEFAULT_FROM_EMAIL,
                recipient_list=[contact.email],
                fail_silently=True,
            )


def _text(endpoint: WebhookEndpoint, error: str) -> str:
    assert endpoint.failing_since is not None
    happened = ngettext(
        "%(organization)s: %(url)s has failed %(failures)d time in a row since %(since)s and is no"
        " longer called. The last error: %(error)s",
        "%(organization)s: %(url)s has failed %(failures)d times in a row since %(since)s and is no"
        " longer called. The last error: %(error)s",
        endpoint.failures,
    ) % {
        "organization": endpoint.organization,
        "url": endpoint.url,
        "failures": endpoint.failures,
        "since": minute(endpoint.failing_since),
        "error": error,
    }
    what_to_do = gettext(
        "What was waiting for it is sent once you enable it again, by POST %(link)s.\n"
        "What happens until then is not sent.\n"
    ) % {"link": f"{settings.PUBLIC_URL}/api/webhooks/{endpoint.pk}/enable"}
    return f"{happened}\n\n{what_to_do}"
