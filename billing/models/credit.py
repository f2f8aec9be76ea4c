"""Prepaid credit: an append-only ledger of its own.

Invariant: for each grant, 0 <= granted + the sum of its debits, reversals and expiries <= granted;
the balance is the sum of all entries. What was used since the last invoice is not in here yet: the
monthly close debits it (billing/budgets/credit.py tells what is left in between). A refund of the
payment that a grant was bought with may take more than is left of it: what is missing is a debt.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from backend.accounts.models import Organization


class CreditKind(models.TextChoices):
    GRANT = "grant"
    DEBIT = "debit"
    EXPIRY = "expiry"
    REVERSAL = "reversal", "given back"
    REFUND = "refund", "payment taken back"
    RESTORED = "restored", "payment restored"


class CreditEntry(models.Model):
    """One movement: a grant, or what an invoice took, gave back when voided, or expired of one; or
    what the provider took back of the payment for one."""

    organization = models.ForeignKey(
        Organization, on_delete=models.PROTECT, related_name="credit_entries"
    )
    kind = models.CharField(max_length=8, choices=CreditKind.choices)
    amount = models.DecimalField(max_digits=30, decimal_places=12)
    currency = models.CharField(max_length=3, default="USD")
    grant = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="uses"
    )
    invoice = models.ForeignKey(
        "billing.Invoice", null=True, blank=True, on_delete=models.PROTECT, related_name="credit"
    )
    expires_at = models.DateTimeField(null=True, blank=True, help_text="Of a grant.")
    note = models.CharField(max_length=200, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        verbose_name_plural = "credit entries"
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind="grant", amount__gt=0, grant=None)
                | Q(kind__in=["debit", "expiry", "refund"], amount__lt=0, grant__isnull=False)
                | Q(kind__in=["reversal", "restored"], amount__gt=0, grant__isnull=False),
                name="credit_signs",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.amount.normalize():f} {self.currency}"
