"""Where a webhook may go: backend/platform/outbound.py, under this installation's setting."""

from django.conf import settings

from backend.platform import outbound

WHAT = "A webhook"
TO_PRIVATE_SWITCH = "PARLEY_BILLING_WEBHOOKS_TO_PRIVATE"


def check_url(url: str) -> None:
    """InvalidRequest unless this is an https URL that could be a webhook (not resolved)."""
    outbound.check_url(
        url,
        to_private=settings.BILLING_WEBHOOKS_TO_PRIVATE,
        what=WHAT,
        switch=TO_PRIVATE_SWITCH,
    )
