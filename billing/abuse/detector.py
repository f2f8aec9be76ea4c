"""A batch of usage events: counted, and every subject it touched scored and flagged.

An invalid event is skipped: the aggregator rejects it.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import structlog
from django.db import transaction

from billing.abuse import scoring, throttle
from billing.abuse.counting import (
    Subject,
    count_events,
    crowded_addresses,
    hour_and_history,
    note_clients,
)
from billing.aggregator.ingest import KafkaRecord
from billing.events import EventRejected, UsageRecorded, decode
from billing.models import AbuseFlag, AbusePolicy, AbuseReason, SubjectKind

log = structlog.get_logger(__name__)

DAY = timedelta(hours=24)
FRESH = timedelta(hours=2)
"""Older events are counted, for the history, and flag no subject: the hour is over."""


@transaction.atomic
def detect(records: Sequence[KafkaRecord]) -> int:
    """Take in a batch; a batch that comes again changes nothing. Returns how many were flagged.

    What is counted is scored in one transaction: a batch whose process dies comes again.
    """
    events = list(_decoded(records))
    now = datetime.now(UTC)
    touched = count_events(events)
    addresses = note_clients(events)
    flagged = 0
    for subject, hour in sorted(touched, key=lambda item: (str(item[0].id), item[1])):
        if hour < now - FRESH:
            continue
        this, history = hour_and_history(subject, hour)
        details = {
            "hour": hour.isoformat(),
            "requests": this.requests,
            "blocked": this.blocked,
            "tokens": this.tokens,
            "active_hours_before": len(history),
            "tokens_before": sum(history),
        }
        flagged += _flag(subject, AbuseReason.SPIKE, scoring.spike(this, history), details)
        flagged += _flag(subject, AbuseReason.BLOCKED, scoring.blocked(this), details)
    crowded = crowded_addresses(addresses, since=now - DAY)
    for subject, client_hash in _keys_at(events, crowded):
        keys = crowded[client_hash]
        flagged += _flag(
            subject,
            AbuseReason.SHARED_ADDRESS,
            scoring.shared_address(keys),
            {"client_hash": client_hash, "keys_within_a_day": keys},
        )
    return flagged


def _decoded(records: Iterable[KafkaRecord]) -> Iterable[UsageRecorded]:
    for record in records:
        try:
            yield decode(record.value)
        except EventRejected:
            continue


def _keys_at(events: Iterable[UsageRecorded], crowded: dict[str, int]) -> set[tuple[Subject, str]]:
    return {
        (
            Subject(SubjectKind.KEY, UUID(event.key_id), UUID(event.organization_id)),
            event.client_hash,
        )
        for event in events
        if event.key_id and crowded.get(event.client_hash, 0) >= scoring.KEYS_FROM_ONE_ADDRESS
    }


def _flag(subject: Subject, reason: AbuseReason, score: float, details: dict[str, object]) -> bool:
    """Open a flag, or renew the open one, where the score is over the threshold.

    A dismissed flag stays dismissed for a day, so that staff need not look at it every hour.
    """
    if score < 1:
        return False
    now = datetime.now(UTC)
    known = AbuseFlag.objects.filter(kind=subject.kind, subject_id=subject.id, reason=reason)
    dismissed = known.filter(state=AbuseFlag.State.DISMISSED, last_seen__gte=now - DAY)
    if dismissed.exists():
        return False
    flag, is_new = AbuseFlag.objects.update_or_create(
        kind=subject.kind,
        subject_id=subject.id,
        reason=reason,
        state=AbuseFlag.State.OPEN,
        defaults={
            "organization_id": subject.organization_id,
            "score": score,
            "details": details,
            "last_seen": now,
        },
    )
    policy = AbusePolicy.objects.filter(reason=reason, throttle=True).first()
    if policy is not None:
        flag.throttled_until = throttle.start(
            subject_id=subject.id,
            requests_per_minute=policy.requests_per_minute,
            minutes=policy.minutes,
        )
        flag.save(update_fields=["throttled_until"])
    if is_new:
        log.warning(
            "abuse_flagged",
            reason=str(reason),
            kind=str(subject.kind),
            subject_id=str(subject.id),
            organization_id=str(subject.organization_id),
            score=round(score, 2),
            throttled=policy is not None,
        )
    return is_new
