"""What a model costs us, for the margin in finance reports. Not a price: nobody is charged it."""

from django.core.validators import MinValueValidator
from django.db import models


class ModelCost(models.Model):
    """Our own cost of 1,000 tokens of a model, as finance estimates it."""

    model = models.CharField(max_length=200, unique=True)
    currency = models.CharField(max_length=3, default="USD")
    input_per_1k = models.DecimalField(
        max_digits=18, decimal_places=9, validators=[MinValueValidator(0)]
    )
    output_per_1k = models.DecimalField(
        max_digits=18, decimal_places=9, validators=[MinValueValidator(0)]
    )

    class Meta:
        ordering = ["model"]

    def __str__(self) -> str:
        return self.model
