"""Payments by a provider: who pays with what, credit that is bought, invoices that are collected.

Invariants:
- an event of a provider has an effect once, however often and in whatever order it is delivered:
  its row and its effect are one transaction;
- a top-up gives credit once, and no more than was paid;
- an invoice is charged at most once an attempt (the provider's idempotency key is the attempt's);
- what was taken back of a payment is in the credit ledger once, or its invoice is open again.

Numbers of cards never come here: customers type them at the provider.
"""

import uuid
from decimal import Decimal

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from backend.accounts.models import Organization, Plan
from billing.currencies import CurrencyField
from billing.models.credit import CreditEntry
from billing.models.invoices import Invoice


class PaymentCustomer(models.Model):
    """An organization at the payment provider, and what it pays with."""

    organization = models.OneToOneField(
        Organization, primary_key=True, on_delete=models.PROTECT, related_name="payment_customer"
    )
    customer_id = models.CharField(max_length=100, unique=True)
    method_id = models.CharField(max_length=100, blank=True)
    method_label = models.CharField(max_length=100, blank=True, help_text="Such as Visa ···· 4242.")
    method_added_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.customer_id}: {self.method_label or 'no payment method'}"


class TopUpState(models.TextChoices):
    PENDING = "pending"
    PAID = "paid"
    EXPIRED = "expired"


class TopUp(models.Model):
    """Prepaid credit that a customer buys: asked for, then paid or not."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.PROTECT, related_name="top_ups")
    amount = models.DecimalField(max_digits=18, decimal_places=2)
    currency = models.CharField(max_length=3)
    state = models.CharField(max_length=8, choices=TopUpState.choices, default=TopUpState.PENDING)
    payment_id = models.CharField(max_length=100, blank=True, db_index=True)
    taken_back = models.DecimalField(
        max_digits=18,
        decimal_places=2,
        default=Decimal(0),
        db_default=Decimal(0),
        help_text="By refunds and disputes.",
    )
    credit = models.OneToOneField(
        CreditEntry, null=True, blank=True, on_delete=models.PROTECT, related_name="top_up"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    paid_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [models.Index(fields=["organization", "-created_at"], name="top_up_org")]
        constraints = [
            models.CheckConstraint(condition=Q(amount__gt=0), name="top_up_positive"),
            models.CheckConstraint(
                condition=Q(state="paid", credit__isnull=False) | ~Q(state="paid") & Q(credit=None),
                name="top_up_paid_has_credit",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.amount} {self.currency}, {self.state}"


class PaymentEvent(models.Model):
    """An event of the provider that was taken."""

    event_id = models.CharField(primary_key=True, max_length=100)
    type = models.CharField(max_length=100)
    effect = models.CharField(max_length=200, help_text="What it changed here.")
    received_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["-received_at"]

    def __str__(self) -> str:
        return f"{self.type}: {self.effect}"


class CollectionState(models.TextChoices):
    PENDING = "pending"
    PAID = "paid"
    FAILED = "failed"
    SMALL = "small", "below the provider's minimum"


class Collection(models.Model):
    """One attempt to charge an open invoice to the customer's payment method.

    It is stored before the provider is asked. One that is pending without a payment has lost its
    answer: the provider is asked for it.
    """

    invoice = models.ForeignKey(Invoice, on_delete=models.PROTECT, related_name="collections")
    attempt = models.PositiveSmallIntegerField()
    state = models.CharField(
        max_length=8, choices=CollectionState.choices, default=CollectionState.PENDING
    )
    amount = models.DecimalField(
        max_digits=18, decimal_places=2, null=True, help_text="Empty: from before it was stored."
    )
    method_id = models.CharField(max_length=100, blank=True, default="", db_default="")
    payment_id = models.CharField(max_length=100, blank=True, db_index=True)
    error = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["invoice", "attempt"], name="collection_attempt")
        ]

    def __str__(self) -> str:
        return f"{self.invoice}, attempt {self.attempt}: {self.state}"


class ReversalKind(models.TextChoices):
    REFUND = "refund"
    DISPUTE = "dispute"


class PaymentReversal(models.Model):
    """What the provider took back of a payment: by refunds, or by a dispute until it is won.

    It may be known before its payment is; what of it has had an effect here is `applied`.
    """

    reference = models.CharField(
        primary_key=True, max_length=100, help_text="The refunded charge, or the dispute."
    )
    kind = models.CharField(max_length=8, choices=ReversalKind.choices)
    payment_id = models.CharField(max_length=100, db_index=True)
    amount = models.DecimalField(
        max_digits=18, decimal_places=2, help_text="Of all refunds of the charge; of the dispute."
    )
    currency = models.CharField(max_length=3)
    is_closed = models.BooleanField(default=False, help_text="A dispute that was decided.")
    is_won = models.BooleanField(default=False, help_text="The payment is ours after all.")
    refunds = models.JSONField(
        default=dict, blank=True, help_text="Those that are known by id: amount, whether it failed."
    )
    failed = models.DecimalField(
        max_digits=18,
        decimal_places=2,
        default=Decimal(0),
        db_default=Decimal(0),
        help_text="Of the refunds, what never reached the customer.",
    )
    applied = models.DecimalField(max_digits=18, decimal_places=2, default=Decimal(0))
    organization = models.ForeignKey(
        Organization, null=True, on_delete=models.PROTECT, related_name="payment_reversals"
    )
    top_up = models.ForeignKey(TopUp, null=True, on_delete=models.PROTECT, related_name="reversals")
    invoice = models.ForeignKey(
        Invoice, null=True, on_delete=models.PROTECT, related_name="reversals"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(amount__gt=0, applied__gte=0, applied__lte=F("amount")),
                name="payment_reversal_amounts",
            ),
            models.CheckConstraint(
                condition=Q(failed__gte=0, failed__lte=F("amount")),
                name="payment_reversal_failed",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.amount} {self.currency}"

    @property
    def in_force(self) -> Decimal:
        """What of the payment is not ours at present."""
        return Decimal(0) if self.is_won else self.amount - self.failed


class SurplusPayment(models.Model):
    """Payments for nothing, or of more than was owed, to be refunded."""

    payment_id = models.CharField(primary_key=True, max_length=100)
    organization = models.ForeignKey(
        Organization, on_delete=models.PROTECT, related_name="surplus_payments"
    )
    invoice = models.ForeignKey(
        Invoice, null=True, on_delete=models.PROTECT, related_name="surplus_payments"
    )
    top_up = models.ForeignKey(
        TopUp, null=True, on_delete=models.PROTECT, related_name="surplus_payments"
    )
    amount = models.DecimalField(max_digits=18, decimal_places=2)
    currency = models.CharField(max_length=3)
    reason = models.CharField(max_length=200)
    refunded = models.DecimalField(max_digits=18, decimal_places=2, default=Decimal(0))
    refunded_at = models.DateTimeField(null=True, help_text="Empty: it is to be refunded.")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.amount} {self.currency} of {self.payment_id}"


class DunningStep(models.Model):
    """What a customer was told, or what was done, about an invoice that is not paid; once each."""

    invoice = models.ForeignKey(Invoice, on_delete=models.PROTECT, related_name="dunning")
    step = models.CharField(max_length=20)
    at = models.DateTimeField()

    class Meta:
        ordering = ["at"]
        constraints = [
            models.UniqueConstraint(fields=["invoice", "step"], name="dunning_step_once")
        ]

    def __str__(self) -> str:
        return f"{self.invoice}: {self.step}"


class PlanPrice(models.Model):
    """What a plan costs a month, in one currency. A plan without a price is given by operators."""

    plan = models.ForeignKey(Plan, on_delete=models.CASCADE, related_name="prices")
    currency = CurrencyField(default="USD")
    amount = models.DecimalField(max_digits=12, decimal_places=2)

    class Meta:
        ordering = ["plan__queue_priority", "currency"]
        constraints = [
            models.UniqueConstraint(fields=["plan", "currency"], name="plan_price_unique"),
            models.CheckConstraint(condition=Q(amount__gte=0), name="plan_price_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.plan}: {self.amount} {self.currency} a month"


class PlanPeriod(models.Model):
    """How long an organization had a plan that it chose, at the price of the day it chose it."""

    organization = models.ForeignKey(
        Organization, on_delete=models.PROTECT, related_name="plan_periods"
    )
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT)
    amount = models.DecimalField(max_digits=12, decimal_places=2, help_text="A month.")
    currency = models.CharField(max_length=3)
    began_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["began_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["organization"],
                condition=Q(ended_at=None),
                name="plan_period_one_at_a_time",
            )
        ]

    def __str__(self) -> str:
        return f"{self.plan} from {self.began_at:%Y-%m-%d}"
