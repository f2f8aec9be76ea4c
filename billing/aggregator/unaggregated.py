"""The list of ledger records whose event may be missing (`UnaggregatedUsage`), kept complete.

A trigger lists each record when it enters the ledger. `ingest` takes it off in the transaction
that stores its event; what takes events out of the store, or finds some missing, lists them again
here. Taking off needs the lock that aggregators share (`ingest.SHARED_LOCK`, or the exclusive
one): it holds off the repair, which alone deletes events.
"""

from collections.abc import Sequence
from uuid import UUID

from django.db import connection, transaction

from billing.aggregator.ingest import SHARED_LOCK

_LIST = """
INSERT INTO billing_unaggregatedusage (generation_id, organization_id)
SELECT generation_id, organization_id FROM billing_usagerecord WHERE generation_id = ANY(%s)
ON CONFLICT (generation_id) DO NOTHING
"""
_TAKE_OFF_STORED = """
DELETE FROM billing_unaggregatedusage AS listed
WHERE (%(organization)s::uuid IS NULL OR organization_id = %(organization)s) AND EXISTS (
    SELECT 1 FROM billing_usageevent AS event WHERE event.event_id = listed.generation_id
)
"""


def list_records(generation_ids: Sequence[UUID]) -> None:
    """List records whose events are not stored, or are being deleted by this transaction."""
    with connection.cursor() as cursor:
        cursor.execute(_LIST, [list(generation_ids)])


def take_off_stored(*, organization_id: UUID | None = None) -> None:
    """Take off the list what has its event. The caller's transaction holds one of the locks."""
    with connection.cursor() as cursor:
        cursor.execute(_TAKE_OFF_STORED, {"organization": organization_id})


@transaction.atomic
def sweep() -> None:
    """Take off what is left over; aggregators of the version before took nothing off."""
    with connection.cursor() as cursor:
        cursor.execute(SHARED_LOCK)
    take_off_stored()
