"""Writes that other folders call: a generation's usage enters the ledger here, and only here."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from uuid import UUID

import structlog
from django.db import transaction

from billing import events
from billing.models import OutboxEvent, UsageRecord
from billing.models.outbox import partition_of
from billing.partitions import month_of_id
from billing.periods import month_of
from billing.prices import Payer, PriceBook
from billing.prices.usage import Pricer, UsageBucket
from billing.quantities import TokenCounts
from billing.snapshots import one_snapshot
from billing.usage_totals import usage_totals

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class UsageFacts:
    """What a generation used, when it reached its terminal state.

    Attributes:
        occurred_at: when it ended; decides the hour, the month and the price.
        pool: the pool that served it; "" where no engine saw the prompt (a prompt blocked
            beforehand, nothing free to take it). Such a generation costs nothing.
        reported: tokens as the upstream reported them. `input` is the whole prompt, cached tokens
            included; `output` is what was delivered to the client: tokens that were generated and
            not delivered do not count.
        state: `completed`, `cancelled`, `blocked` or `failed`.
        ttft_ms, duration_ms: milliseconds; no first token, no `ttft_ms`.
        client_hash: a keyed hash of the client's address, for the abuse detector; never the
            address itself.
        counts_as_abuse: whether the abuse detector counts it where it was blocked.
    """

    generation_id: UUID
    occurred_at: datetime
    organization_id: UUID
    project_id: UUID
    user_id: UUID
    key_id: UUID | None
    model: str
    pool: str
    reported: TokenCounts
    state: str
    ttft_ms: int | None
    duration_ms: int
    client_hash: str = ""
    counts_as_abuse: bool = True

    @property
    def counts(self) -> TokenCounts:
        """What is metered: the invariant enforced, and nothing where no engine ran."""
        return self.reported.clamped() if self.pool else TokenCounts()


def usage_record_create(*, facts: UsageFacts) -> UsageRecord:
    """Enter a generation into the ledger, with the outbox row that announces it.

    Call it inside the transaction that ends the generation: both are stored, or neither.

    Raises:
        IntegrityError: this generation has its record already. The caller's transaction is
            lost, as it must be: the generation was ended elsewhere.
        TransactionManagementError: there is no transaction to be part of.
    """
    _require_transaction()
    record, event = usage_rows(facts=facts)
    record.save(force_insert=True)
    event.save(force_insert=True)
    return record


def usage_rows(*, facts: UsageFacts) -> tuple[UsageRecord, OutboxEvent]:
    """What `usage_record_create` stores, unsaved: for who writes it together with other rows. Both
    belong into the statement or the transaction that ends the generation."""
    counts = facts.counts
    if facts.pool and counts != facts.reported:
        log.warning("usage_report_inconsistent", generation_id=str(facts.generation_id))
    record = UsageRecord(
        generation_id=facts.generation_id,
        id_month=month_of_id(facts.generation_id),
        occurred_at=facts.occurred_at,
        organization_id=facts.organization_id,
        project_id=facts.project_id,
        user_id=facts.user_id,
        key_id=facts.key_id,
        model=facts.model,
        pool=facts.pool,
        **counts.columns(),
        state=facts.state,
        ttft_ms=facts.ttft_ms,
        duration_ms=facts.duration_ms,
    )
    key = str(record.organization_id)
    event = OutboxEvent(
        topic=events.TOPIC_RECORDED,
        key=key,
        partition=partition_of(key),
        event_id=record.generation_id,
        payload=events.encode(
            record, client_hash=facts.client_hash, counts_as_abuse=facts.counts_as_abuse
        ),
    )
    return record, event


def usage_cost(
    *, facts: UsageFacts, book: PriceBook, earlier: Iterable[UsageBucket] | None = None
) -> Decimal:
    """What this generation costs, at the tier that the month has reached; exact.

    Tokens without a price cost nothing. With volume tiers, the volume is the ledger's at this
    moment without this generation, so of two that end together each may count the other first.

    Args:
        earlier: the month's usage of the model; None: `earlier_this_month`, where prices need it.
    """
    at = facts.occurred_at
    pricer = Pricer(organization_id=facts.organization_id, book=book)
    payer = Payer(facts.organization_id, facts.project_id)
    if earlier is None and book.has_tiers(model=facts.model, payer=payer, at=at):
        earlier = earlier_this_month(facts=facts, book=book)
    for bucket in earlier or ():
        pricer.count(bucket)
    return pricer.price(usage_bucket(facts)).cost


def usage_bucket(facts: UsageFacts) -> UsageBucket:
    return UsageBucket(
        start=facts.occurred_at.replace(minute=0, second=0, microsecond=0),
        model=facts.model,
        requests=1,
        counts=facts.counts,
        project_id=facts.project_id,
    )


def earlier_this_month(*, facts: UsageFacts, book: PriceBook) -> list[UsageBucket]:
    """What the month has of the model without this generation, from the rollups and the ledger's
    tail: it costs the same whatever the month holds."""
    month = month_of(facts.occurred_at)
    changes = book.changes(organization_id=facts.organization_id, start=month.start, end=month.end)
    starts = sorted({month.start, *changes})
    own_start = max(start for start in starts if start <= facts.occurred_at)
    own = UsageRecord.objects.filter(
        generation_id=facts.generation_id, id_month=month_of_id(facts.generation_id)
    )
    pricer = Pricer(organization_id=facts.organization_id, book=book)
    with one_snapshot():
        is_recorded = own.exists()
        buckets = list(
            usage_totals(
                organization_id=facts.organization_id,
                starts=starts,
                end=month.end,
                dimensions=pricer.dimensions(()),
                only={"model": [facts.model]},
            )
        )
    if not is_recorded:
        return buckets
    return [
        replace(bucket, counts=bucket.counts - facts.counts)
        if bucket.start == own_start and bucket.project_id in (None, facts.project_id)
        else bucket
        for bucket in buckets
    ]


def _require_transaction() -> None:
    if not transaction.get_connection().in_atomic_block:
        raise transaction.TransactionManagementError(
            "usage_record_create must run inside the transaction that ends the generation"
        )
