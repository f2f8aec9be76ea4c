"""The price book's rows. A row never changes; a new price is a new row that begins later.

Of several rows for the same currency, organization, project, model and kind, the one with the
latest `effective_from` not after the moment in question applies; of two with the same, the later
written one. So editing history is the table itself.
"""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from backend.accounts.models import Organization, Project
from billing.currencies import CurrencyField
from billing.quantities import Kind
from billing.tiers import TIERS


class Price(models.Model):
    """The price of 1,000 tokens of one kind of one model, from a whole hour on.

    `tiers` is a list of `{"from": tokens, "price": "0.0001"}`, ascending, the first from 0:
    the marginal price once the organization has used that many tokens of this model and kind
    in the calendar month; of a project's price, once the project has used that many at it. None
    takes an organization's or a project's own price back.
    """

    currency = CurrencyField(default="USD")
    organization = models.ForeignKey(
        Organization,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="own_prices",
        help_text="Empty: the list price for everybody.",
    )
    # As in the ledger, the id outlives the project: what it used keeps its price.
    project = models.ForeignKey(
        Project,
        null=True,
        blank=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="own_prices",
        help_text="One of the organization's. Empty: all of them.",
    )
    model = models.CharField(max_length=200)
    kind = models.CharField(max_length=16, choices=[(kind.value, kind.label) for kind in Kind])
    tiers = models.JSONField(null=True)
    effective_from = models.DateTimeField()
    note = models.CharField(max_length=200, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["model", "kind", "-effective_from", "-id"]
        indexes = [
            models.Index(fields=["model", "kind", "effective_from"], name="price_lookup"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(project=None) | models.Q(organization__isnull=False),
                name="price_project_of_organization",
            )
        ]

    def __str__(self) -> str:
        return f"{self.model} {self.kind} from {self.effective_from:%Y-%m-%d %H:%M}"


class PriceFactor(models.Model):
    """A service tier's price, as a multiple of the model's, from a whole hour on. Rows are only
    added, as prices are. See billing/tiers.py."""

    tier = models.CharField(max_length=16, choices=[(tier, tier) for tier in TIERS])
    factor = models.DecimalField(max_digits=7, decimal_places=3)
    effective_from = models.DateTimeField()
    note = models.CharField(max_length=200, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["tier", "-effective_from", "-id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(factor__gte=0), name="price_factor_not_negative"
            )
        ]

    def __str__(self) -> str:
        return f"{self.tier} x{self.factor} from {self.effective_from:%Y-%m-%d %H:%M}"
