"""Usage: the ledger, the event store, the hourly rollups and their coarser sums.

Each has a column for every kind of tokens (`billing.quantities.Kind`).

Invariants:
- the ledger has exactly one record for each generation that ended, and a record never changes
  (a trigger refuses it; only the invoice that bills a record is noted on it, until it is voided);
- the event store has each event once, whatever Kafka delivers;
- a rollup is the sum of the event store's events of its hour, organization, project, user,
  key and model;
- a day, and each coarser sum, is the sum of its hours' rollups (triggers on them add to it);
- a record whose event is not in the event store is listed in `UnaggregatedUsage` (a trigger lists
  each new record, and only who has stored its event takes it off).

So at every commit the ledger's sums are those of the rollups and of the listed records that have
no event, and no record is in both: `billing/usage_totals.py` reads usage that way.

Users, projects and keys are plain ids here: the ledger outlives them.
"""

from functools import reduce
from operator import add

from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Now

from backend.accounts.models import Organization
from billing.partitions import NO_MONTH
from billing.quantities import WHOLES, TokenCounts


class UsageState(models.TextChoices):
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    BLOCKED = "blocked"
    FAILED = "failed"


class TokenColumns(models.Model):
    """What one generation used, a column for each kind of tokens: of ledger and event store, and of
    the generation itself. Cached tokens and those of images are counted as
    input too, and no token as both."""

    input_tokens = models.PositiveIntegerField(default=0)
    cached_input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    reasoning_tokens = models.PositiveIntegerField(default=0, db_default=0)
    audio_seconds = models.PositiveIntegerField(default=0, db_default=0)
    spoken_characters = models.PositiveIntegerField(default=0, db_default=0)
    image_tokens = models.PositiveIntegerField(default=0, db_default=0)
    cached_output_tokens = models.PositiveIntegerField(default=0, db_default=0)

    class Meta:
        abstract = True

    @property
    def counts(self) -> TokenCounts:
        return TokenCounts.of(self)


class _Usage(TokenColumns):
    """The columns that the ledger and the event store share."""

    occurred_at = models.DateTimeField(help_text="When the generation ended.")
    project_id = models.UUIDField()
    user_id = models.UUIDField()
    key_id = models.UUIDField(null=True, blank=True, help_text="Empty: the page, not a key.")
    model = models.CharField(max_length=200)
    pool = models.CharField(max_length=200, blank=True, help_text="Empty: no engine saw it.")
    state = models.CharField(max_length=16, choices=UsageState.choices)
    ttft_ms = models.PositiveIntegerField(null=True, blank=True)
    duration_ms = models.PositiveIntegerField()
    client_hash = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        help_text="Of earlier releases: a keyed hash of the client's address, gone by an erasure.",
    )

    class Meta:
        abstract = True


class TokenSums(models.Model):
    """Sums of the ledger's token columns."""

    input_tokens = models.PositiveBigIntegerField()
    cached_input_tokens = models.PositiveBigIntegerField()
    output_tokens = models.PositiveBigIntegerField()
    reasoning_tokens = models.PositiveBigIntegerField(default=0, db_default=0)
    audio_seconds = models.PositiveBigIntegerField(default=0, db_default=0)
    spoken_characters = models.PositiveBigIntegerField(default=0, db_default=0)
    image_tokens = models.PositiveBigIntegerField(default=0, db_default=0)
    cached_output_tokens = models.PositiveBigIntegerField(default=0, db_default=0)

    class Meta:
        abstract = True


class UsageRecord(_Usage):
    """One ended generation: the ledger's entry, written with the generation's terminal state.

    Partitioned by month (billing/partitions.py), so the database's key is the generation with
    `id_month`. That is a function of the generation's id (a constraint says so), hence the id alone
    is unique too. Who looks for one record names both: one partition is read.
    """

    generation_id = models.UUIDField(unique=True)
    id_month = models.DateTimeField(
        db_default=Value(NO_MONTH),
        editable=False,
        help_text="The month in which the generation's id was made: decides the partition.",
    )
    organization = models.ForeignKey(
        Organization, on_delete=models.PROTECT, related_name="usage_records"
    )
    recorded_at = models.DateTimeField(db_default=Now(), editable=False)
    invoice = models.ForeignKey(
        "billing.Invoice",
        null=True,
        blank=True,
        editable=False,
        on_delete=models.PROTECT,
        related_name="usage_records",
        db_index=False,
        help_text="The invoice that took it up.",
    )

    class Meta:
        indexes = [
            # The key is another one where the table is partitioned.
            models.Index(fields=["id"], name="usage_number"),
            models.Index(fields=["organization", "occurred_at"], name="usage_org_time"),
            models.Index(
                fields=["organization", "occurred_at"],
                condition=Q(invoice=None),
                name="usage_not_invoiced",
            ),
            models.Index(
                fields=["invoice"], condition=Q(invoice__isnull=False), name="usage_by_invoice"
            ),
            BrinIndex(fields=["occurred_at"], name="usage_time_brin"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    **{f"{whole.column}__gte": reduce(add, (F(p.column) for p in whole.parts))}
                ),
                name=f"usage_{whole}_contains_parts",
            )
            for whole in WHOLES
            if whole.parts
        ]

    def __str__(self) -> str:
        return f"{self.model}: {self.input_tokens} in, {self.output_tokens} out"


class UsageEvent(_Usage):
    """A usage event as the aggregator received it, once. Derived; organizations are ids here.

    Partitioned by month (billing/partitions.py), so the database's key is the id with the time: an
    event is made from its ledger record, whose id is unique and whose time never changes.
    """

    event_id = models.UUIDField(primary_key=True)
    organization_id = models.UUIDField()
    ingested_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        indexes = [
            models.Index(fields=["organization_id", "occurred_at"], name="event_org_time"),
            BrinIndex(fields=["occurred_at"], name="event_time_brin"),
        ]

    def __str__(self) -> str:
        return str(self.event_id)


class UnaggregatedUsage(models.Model):
    """A ledger record whose event may be missing from the event store: few, of the last seconds.

    Whether it is missing says the event store; a row that is left over is harmless.
    """

    generation_id = models.UUIDField(primary_key=True)
    organization_id = models.UUIDField()

    class Meta:
        indexes = [models.Index(fields=["organization_id"], name="unaggregated_org")]

    def __str__(self) -> str:
        return str(self.generation_id)


class _GroupedSums(TokenSums):
    """Sums for one organization, project, user, key and model."""

    organization_id = models.UUIDField()
    project_id = models.UUIDField()
    user_id = models.UUIDField()
    key_id = models.UUIDField(null=True, blank=True)
    model = models.CharField(max_length=200)
    requests = models.PositiveBigIntegerField()

    class Meta:
        abstract = True


class UsageRollup(_GroupedSums):
    """Sums of one hour (UTC, by `occurred_at`)."""

    hour = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["hour", "organization_id", "project_id", "user_id", "key_id", "model"],
                nulls_distinct=False,
                name="rollup_unique",
            )
        ]
        indexes = [models.Index(fields=["organization_id", "hour"], name="rollup_org_hour")]

    def __str__(self) -> str:
        return f"{self.hour:%Y-%m-%d %H}h {self.model}: {self.requests} requests"


class UsageDay(_GroupedSums):
    """Sums of one day (UTC): of the rollups of its hours, kept by the database itself."""

    day = models.DateTimeField(help_text="When it begins.")

    class Meta:
        constraints = [
            # Read by organization and day, so that one index serves both.
            models.UniqueConstraint(
                fields=["organization_id", "day", "project_id", "user_id", "key_id", "model"],
                nulls_distinct=False,
                name="day_unique",
            )
        ]

    def __str__(self) -> str:
        return f"{self.day:%Y-%m-%d} {self.model}: {self.requests} requests"


class UsageSum(_GroupedSums):
    """Rollups summed over more than a day has: over a longer time, or over dimensions.

    A row of a large customer's month for each answer's group, where `UsageDay` has one for each
    member, key and day. `SETS` in `billing/usage_totals.py` says which are kept. A dimension that
    is summed over is the nil UUID, and the key NULL, as it is for usage from the page.
    """

    unit = models.CharField(max_length=5, help_text="hour, day or month (UTC).")
    detail = models.CharField(max_length=7, help_text="model, project, key or all: what is kept.")
    start = models.DateTimeField(help_text="When it begins.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=[
                    "organization_id", "unit", "detail", "start",
                    "project_id", "user_id", "key_id", "model",
                ],
                nulls_distinct=False,
                name="sum_unique",
            )
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.start:%Y-%m-%d %H}h, one {self.unit}, {self.model}: {self.requests} requests"
