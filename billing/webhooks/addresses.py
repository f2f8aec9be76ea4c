"""Where a webhook may go: backend/platform/outbound.py, under this installation's setting."""

from django.conf import settings

from backend.platform import outbound
from backend.platform.outbound import Target

_WHAT = "A webhook"


def check_url(url: str) -> None:
    """InvalidRequest unless this is an https URL that could be a webhook (not resolved)."""
    outbound.check_url(url, to_private=settings.BILLING_WEBHOOKS_TO_PRIVATE, what=_WHAT)


def resolve(url: str) -> Target:
    """As `outbound.resolve`."""
    return outbound.resolve(url, to_private=settings.BILLING_WEBHOOKS_TO_PRIVATE, what=_WHAT)
