"""How an organization pays: currency, tax, address, prepaid or by invoice."""

from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models

from backend.accounts.models import Organization
from backend.platform.languages import TAGS
from billing.currencies import CurrencyField


class BillingAccount(models.Model):
    """One organization's terms; an organization without a row has the defaults."""

    organization = models.OneToOneField(
        Organization, primary_key=True, on_delete=models.CASCADE, related_name="billing_account"
    )
    currency = CurrencyField(default="USD")
    is_prepaid = models.BooleanField(
        default=False,
        verbose_name="prepaid",
        help_text="Requests are refused once the credit is used up.",
    )
    tax_rate = models.DecimalField(
        max_digits=6,
        decimal_places=4,
        null=True,
        blank=True,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text="0.19 is 19 %. Empty: the country's rate, else the installation's.",
    )
    country = models.CharField(
        max_length=2,
        blank=True,
        default="",
        db_default="",
        validators=[RegexValidator("^[A-Z]{2}$")],
        help_text="ISO 3166, such as DE.",
    )
    legal_name = models.CharField(max_length=200, blank=True)
    address = models.TextField(blank=True)
    tax_id = models.CharField(max_length=60, blank=True, verbose_name="tax id")
    email = models.EmailField(blank=True, help_text="Empty: owners and finance members.")
    language = models.CharField(
        max_length=10,
        blank=True,
        default="",
        db_default="",
        choices=[(tag, tag) for tag in TAGS],
        help_text="Of invoices, BCP 47. Empty: the owner's.",
    )

    def __str__(self) -> str:
        return f"Billing of {self.organization}"
