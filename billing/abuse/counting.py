"""Events into hourly counts, each event once however often it is delivered."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection
from django.db.models import Count

from backend.platform.pages import delete_in_pages
from billing.abuse.scoring import HISTORY_HOURS, Hour
from billing.events import UsageRecorded
from billing.models import AbuseClient, AbuseHour, AbuseSeen, SubjectKind, UsageState

_REMEMBER = """
INSERT INTO billing_abuseseen (event_id, hour)
SELECT * FROM unnest(%s::uuid[], %s::timestamptz[]) ON CONFLICT DO NOTHING RETURNING event_id
"""
_ADD = """
INSERT INTO billing_abusehour AS known (kind, subject_id, hour, requests, blocked, tokens)
SELECT * FROM unnest(%s::text[], %s::uuid[], %s::timestamptz[], %s::bigint[], %s::bigint[],
    %s::bigint[]) ORDER BY 1, 2, 3
ON CONFLICT (kind, subject_id, hour) DO UPDATE SET
    requests = known.requests + excluded.requests,
    blocked = known.blocked + excluded.blocked,
    tokens = known.tokens + excluded.tokens
"""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is scored, and to which organization it belongs."""

    kind: SubjectKind
    id: UUID
    organization_id: UUID


def count_events(events: Iterable[UsageRecorded]) -> set[tuple[Subject, datetime]]:
    """Add events to the counts, in the surrounding transaction. Returns whose hours changed."""
    events = sorted(events, key=lambda event: event.event_id)
    with connection.cursor() as cursor:
        hours = [_hour(event) for event in events]
        cursor.execute(_REMEMBER, [[event.event_id for event in events], hours])
        new = {str(event_id) for (event_id,) in cursor.fetchall()}
        sums: dict[tuple[Subject, datetime], list[int]] = defaultdict(lambda: [0, 0, 0])
        for event in events:
            if event.event_id not in new:
                continue
            new.discard(event.event_id)
            for subject in _subjects(event):
                counts = sums[subject, _hour(event)]
                counts[0] += 1
                counts[1] += event.state == UsageState.BLOCKED and event.counts_as_abuse
                counts[2] += event.input_tokens + event.output_tokens
        if sums:
            rows = [(s.kind.value, s.id, hour, *counts) for (s, hour), counts in sums.items()]
            cursor.execute(_ADD, [list(column) for column in zip(*rows, strict=True)])
    return set(sums)


def note_clients(events: Iterable[UsageRecorded]) -> set[str]:
    """Remember which key was used from which address. Returns the addresses' hashes."""
    latest: dict[tuple[str, str], datetime] = {}
    for event in events:
        if event.client_hash and event.key_id:
            place = (event.client_hash, event.key_id)
            moment = datetime.fromisoformat(event.occurred_at)
            latest[place] = max(moment, latest.get(place, moment))
    AbuseClient.objects.bulk_create(
        [
            AbuseClient(client_hash=client_hash, key_id=key_id, last_seen=moment)
            for (client_hash, key_id), moment in sorted(latest.items())
        ],
        update_conflicts=True,
        unique_fields=["client_hash", "key_id"],
        update_fields=["last_seen"],
    )
    return {client_hash for client_hash, _ in latest}


def crowded_addresses(client_hashes: set[str], *, since: datetime) -> dict[str, int]:
    """How many keys were used from each address since then."""
    counts = (
        AbuseClient.objects.filter(client_hash__in=client_hashes, last_seen__gte=since)
        .values("client_hash")
        .annotate(keys=Count("key_id"))
    )
    return {row["client_hash"]: row["keys"] for row in counts}


def hour_and_history(subject: Subject, hour: datetime) -> tuple[Hour, list[int]]:
    """The subject's hour, and the tokens of its active hours in the week before."""
    rows = AbuseHour.objects.filter(
        kind=subject.kind,
        subject_id=subject.id,
        hour__lte=hour,
        hour__gte=hour - timedelta(hours=HISTORY_HOURS),
    )
    this, history = Hour(), []
    for row in rows:
        if row.hour == hour:
            this = Hour(row.requests, row.blocked, row.tokens)
        else:
            history.append(row.tokens)
    return this, history


def delete_before(moment: datetime) -> None:
    """Delete what no score looks at any more."""
    history = moment - timedelta(hours=HISTORY_HOURS)
    delete_in_pages(AbuseSeen.objects.filter(hour__lt=moment), by="hour")
    delete_in_pages(AbuseHour.objects.filter(hour__lt=history), by="hour")
    delete_in_pages(AbuseClient.objects.filter(last_seen__lt=moment), by="last_seen")


def _subjects(event: UsageRecorded) -> Sequence[Subject]:
    organization_id = UUID(event.organization_id)
    organization = Subject(SubjectKind.ORGANIZATION, organization_id, organization_id)
    if event.key_id is None:
        return (organization,)
    return (organization, Subject(SubjectKind.KEY, UUID(event.key_id), organization_id))


def _hour(event: UsageRecorded) -> datetime:
    moment = datetime.fromisoformat(event.occurred_at)
    return moment.replace(minute=0, second=0, microsecond=0)
