"""The payment provider of this installation."""

from functools import cache

from django.conf import settings

from billing.payments.port import PaymentProvider, PaymentsNotConfigured


def is_configured() -> bool:
    """Whether customers can pay here."""
    return bool(settings.STRIPE_SECRET_KEY)


def payment_provider() -> PaymentProvider:
    """Raises PaymentsNotConfigured."""
    if not is_configured():
        raise PaymentsNotConfigured
    return _stripe(settings.STRIPE_SECRET_KEY, settings.STRIPE_WEBHOOK_SECRET, settings.STRIPE_URL)


@cache
def _stripe(secret_key: str, webhook_secret: str, url: str) -> PaymentProvider:
    # Imported where it is used: its package takes a third of a second, and most have no key.
    from billing.payments.stripe_api import StripeProvider

    return StripeProvider(secret_key=secret_key, webhook_secret=webhook_secret, url=url)
