"""Invoices and credit notes.

Invariants, held by the database:
- an organization has one invoice for a month that is not void;
- the numbers of a seller's series have no gaps (a number is taken in the transaction that issues
  the document, from a row locked for it);
- lines never change, and of an issued document only its status does;
- a ledger record is on at most one invoice, and leaves it only when that is voided.
"""

from decimal import Decimal

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from backend.accounts.models import Organization
from billing.models.usage import TokenSums


class DocumentKind(models.TextChoices):
    INVOICE = "invoice"
    CREDIT_NOTE = "credit_note", "credit note"


class InvoiceStatus(models.TextChoices):
    """`closing`: its usage is being taken up; nobody sees it, and its usage counts as on none."""

    CLOSING = "closing"
    DRAFT = "draft"
    OPEN = "open"
    PAID = "paid"
    VOID = "void"


class InvoiceSeries(models.Model):
    """The last number of a seller's series of documents: one series for all customers, so that no
    prefix of a customer can be another's."""

    name = models.CharField(primary_key=True, max_length=20)
    last = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name_plural = "invoice series"

    def __str__(self) -> str:
        return f"{self.name}-{self.last:06d}"


class Invoice(models.Model):
    """An invoice for a month's usage, or a credit note that corrects one (amounts negative).

    subtotal = sum of the lines, rounded once; total = subtotal - credit_applied + tax;
    tax = tax_rate of what is left after credit, rounded.
    """

    organization = models.ForeignKey(
        Organization, on_delete=models.PROTECT, related_name="invoices"
    )
    kind = models.CharField(
        max_length=12, choices=DocumentKind.choices, default=DocumentKind.INVOICE
    )
    series = models.CharField(
        max_length=20,
        blank=True,
        default="",
        db_default="",
        help_text="Given when issued. Empty: from before there were series, numbered by customer.",
    )
    number = models.PositiveIntegerField(null=True, blank=True, help_text="Given when issued.")
    status = models.CharField(
        max_length=8, choices=InvoiceStatus.choices, default=InvoiceStatus.DRAFT
    )
    corrects = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="credit_notes"
    )
    reason = models.CharField(max_length=300, blank=True, help_text="Of a credit note.")
    period_start = models.DateTimeField()
    period_end = models.DateTimeField()
    currency = models.CharField(max_length=3)
    subtotal = models.DecimalField(max_digits=18, decimal_places=2)
    credit_applied = models.DecimalField(max_digits=18, decimal_places=2, default=Decimal(0))
    tax_rate = models.DecimalField(max_digits=6, decimal_places=4)
    tax = models.DecimalField(max_digits=18, decimal_places=2)
    total = models.DecimalField(max_digits=18, decimal_places=2)
    seller = models.JSONField(default=dict, help_text="As it was when issued.")
    customer = models.JSONField(default=dict, help_text="As it was when issued.")
    language = models.CharField(
        max_length=10,
        blank=True,
        default="",
        db_default="",
        help_text="BCP 47, as it was when drafted; empty: English.",
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    issued_at = models.DateTimeField(null=True, blank=True)
    due_at = models.DateTimeField(null=True, blank=True)
    paid_at = models.DateTimeField(null=True, blank=True)
    voided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-period_start", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "period_start"],
                condition=Q(kind="invoice") & ~Q(status="void"),
                name="invoice_one_a_month",
            ),
            models.UniqueConstraint(
                fields=["organization", "number"],
                condition=Q(series=""),
                name="invoice_number_unique",
            ),
            models.UniqueConstraint(
                fields=["series", "number"],
                condition=~Q(series=""),
                name="invoice_series_number_unique",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["closing", "draft"], number=None)
                | (~Q(status__in=["closing", "draft"]) & Q(number__isnull=False)),
                name="invoice_number_when_issued",
            ),
        ]

    def __str__(self) -> str:
        return self.reference or f"draft for {self.period_start:%Y-%m}"

    @property
    def reference(self) -> str:
        """What is printed on it, such as `INV-000012`; empty for a draft."""
        if self.number is None:
            return ""
        return f"{self.series or str(self.organization_id)[:6].upper()}-{self.number:06d}"


class InvoiceLine(TokenSums):
    """What one project used of one model in one month, with its exact price; or a plan's fee. What
    it used at prices of its own is a line of its own."""

    invoice = models.ForeignKey(Invoice, on_delete=models.PROTECT, related_name="lines")
    position = models.PositiveIntegerField()
    project_id = models.UUIDField()
    project_name = models.CharField(max_length=200)
    model = models.CharField(max_length=200)
    usage_month = models.DateField(help_text="Earlier than the invoice's month: it came late.")
    is_late = models.BooleanField(default=False)
    at_project_price = models.BooleanField(
        default=False, db_default=False, verbose_name="at the project's price"
    )
    requests = models.BigIntegerField()
    amount = models.DecimalField(max_digits=30, decimal_places=12)
    plan_period = models.ForeignKey(
        "billing.PlanPeriod",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="lines",
        help_text="Of a fee: with `usage_month`, what is billed once.",
    )

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["invoice", "position"], name="invoice_line_position")
        ]

    def __str__(self) -> str:
        return f"{self.project_name}, {self.model}"
