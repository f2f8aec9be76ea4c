"""What a model costs us, for the margin in finance reports; no customer is charged it."""

from datetime import UTC, datetime

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models.functions import Now

from billing.currencies import CurrencyField

SINCE_EVER = datetime(2000, 1, 1, tzinfo=UTC)


class ModelCost(models.Model):
    """Our own cost of 1,000 tokens of a model from a moment on, as finance estimates it.

    A row never changes: another estimate is another row, and reports of earlier hours stay as
    they were. Of rows for the same model and currency the one with the latest `effective_from`
    not after the hour in question applies; of two with the same, the later written one. Unlike
    a price it may begin in the past, because no customer has been charged it.
    """

    model = models.CharField(max_length=200)
    currency = CurrencyField(default="USD")
    input_per_1k = models.DecimalField(
        max_digits=18, decimal_places=9, validators=[MinValueValidator(0)]
    )
    output_per_1k = models.DecimalField(
        max_digits=18, decimal_places=9, validators=[MinValueValidator(0)]
    )
    effective_from = models.DateTimeField(default=SINCE_EVER)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["model", "currency", "-effective_from", "-id"]

    def __str__(self) -> str:
        return f"{self.model} from {self.effective_from:%Y-%m-%d %H:%M}"
