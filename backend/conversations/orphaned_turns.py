"""Pending answers whose process is gone: they fail within seconds, and the chat goes on.

Between a turn and its generation nothing but a process knows that the answer is to be begun. So the
answer says until when that process has claimed it; the process renews the claim, and each web
process looks for claims that have lapsed. From the generation on, failover and the reaper end it.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from backend.conversations.models import Message, MessageStatus
from backend.conversations.turns import TURN_CLAIM, message_finish

# Of answers that have no claim: a release before this one stored them.
_UNCLAIMED_AGE = timedelta(minutes=15)
_AT_A_TIME = 100


def turns_renew(ids: Collection[UUID]) -> None:
    """Keep the claims on these answers; those that have a generation by now need none."""
    Message.objects.filter(pk__in=ids, status=MessageStatus.PENDING, generation_id=None).update(
        claimed_until=timezone.now() + TURN_CLAIM
    )


def orphaned_turns_fail(*, now: datetime | None = None) -> int:
    """End answers whose process died, or stalled, before it began their generation.

    Returns:
        How many were ended.
    """
    now = now or timezone.now()
    orphaned = Message.objects.filter(
        Q(claimed_until__lt=now) | Q(claimed_until=None, created_at__lt=now - _UNCLAIMED_AGE),
        status=MessageStatus.PENDING,
        generation_id=None,
    )
    ids = list(orphaned.values_list("pk", flat=True)[:_AT_A_TIME])
    for message_id in ids:
        message_finish(
            message_id=message_id,
            text="",
            status=MessageStatus.FAILED,
            finish_reason="error",
            input_tokens=0,
            output_tokens=0,
            only_unbegun=True,
        )
    return len(ids)
