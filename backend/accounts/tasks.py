"""Background work of `accounts`."""

from django.db.models import Q

from backend.accounts import key_cache
from backend.accounts.addresses import pending_addresses_delete
from backend.accounts.mail import mails_delete, mails_send
from backend.accounts.models import APIKey
from backend.accounts.sign_up import pending_sign_ups_delete
from backend.platform.periodic import periodic_task


@periodic_task()
def api_key_last_uses_write() -> int:
    """Write the noted uses of API keys to their rows; beat runs this once a minute.

    Safe to run twice and from two workers: a row only ever moves forward in time.

    Returns:
        How many keys had been used.
    """
    uses = key_cache.last_uses_take()
    for key_id, at in uses.items():
        earlier = Q(last_used_at=None) | Q(last_used_at__lt=at)
        APIKey.objects.filter(earlier, pk=key_id).update(last_used_at=at)
    if uses:
        key_cache.last_uses_forget()
    return len(uses)


@periodic_task(at_once=4)
def mails_send_due() -> int:
    """Send the mails that are due; queued after each commit that wrote one, and by beat for those
    that are to be tried again. Several run at once, since a mail server may be slow. Returns how
    many were sent."""
    return mails_send()


@periodic_task()
def mails_delete_expired() -> int:
    """Forget old mails, and sign-ups and addresses that were not confirmed. Returns how many."""
    return mails_delete() + pending_sign_ups_delete() + pending_addresses_delete()
