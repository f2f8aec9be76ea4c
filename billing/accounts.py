"""An organization's terms of payment, with the installation's defaults filled in."""

from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from django.conf import settings

from backend.accounts.models import Membership, Role
from billing.models import BillingAccount
from billing.prices.loading import DEFAULT_CURRENCY


@dataclass(frozen=True, slots=True)
class Terms:
    """How one organization pays."""

    currency: str
    is_prepaid: bool
    tax_rate: Decimal
    country: str
    legal_name: str
    address: str
    tax_id: str


def terms_of(organization_id: UUID) -> Terms:
    account = BillingAccount.objects.filter(organization_id=organization_id).first()
    if account is None:
        return Terms(DEFAULT_CURRENCY, False, settings.BILLING_TAX_RATE, "", "", "", "")
    taxes = settings.BILLING_TAXES.get(account.country)
    default_rate = settings.BILLING_TAX_RATE if taxes is None else taxes.rate
    return Terms(
        currency=account.currency,
        is_prepaid=account.is_prepaid,
        tax_rate=default_rate if account.tax_rate is None else account.tax_rate,
        country=account.country,
        legal_name=account.legal_name,
        address=account.address,
        tax_id=account.tax_id,
    )


def finance_contacts(organization_id: UUID) -> list[str]:
    """Who is written to about money: the account's address, else owners and finance members."""
    account = BillingAccount.objects.filter(organization_id=organization_id).first()
    if account is not None and account.email:
        return [account.email]
    return _emails(organization_id, Role.OWNER, Role.FINANCE)


def owner_contacts(organization_id: UUID) -> list[str]:
    """The addresses of an organization's owners."""
    return _emails(organization_id, Role.OWNER)


def _emails(organization_id: UUID, *roles: Role) -> list[str]:
    members = Membership.objects.filter(
        organization_id=organization_id, role__in=roles, user__is_active=True
    )
    return list(members.order_by("user__email").values_list("user__email", flat=True))


def seller(country: str = "") -> dict[str, str]:
    """Who issues invoices to customers of a country; set by the installation."""
    taxes = settings.BILLING_TAXES.get(country)
    return {
        "name": settings.BILLING_SELLER_NAME,
        "address": settings.BILLING_SELLER_ADDRESS,
        "tax_id": (taxes and taxes.seller_tax_id) or settings.BILLING_SELLER_TAX_ID,
    }
