"""An organization's terms of payment, with the installation's defaults filled in."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet

from backend.accounts.languages import language_of
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


class Contact(NamedTuple):
    """Who is written to, and the BCP 47 tag of the language; empty: unknown."""

    email: str
    language: str


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


def currencies_of(organization_ids: Iterable[UUID]) -> dict[UUID, str]:
    """The currency in which each of them pays."""
    currencies = dict.fromkeys(organization_ids, DEFAULT_CURRENCY)
    accounts = BillingAccount.objects.filter(organization_id__in=list(currencies))
    return currencies | dict(accounts.values_list("organization_id", "currency"))


def finance_contacts(organization_id: UUID) -> list[Contact]:
    """Who is written to about money: the account's address, else owners and finance members."""
    account = BillingAccount.objects.filter(organization_id=organization_id).first()
    if account is not None and account.email:
        return [Contact(account.email, billing_language(organization_id))]
    return _contacts(organization_id, Role.OWNER, Role.FINANCE)


def owner_contacts(organization_id: UUID) -> list[Contact]:
    """An organization's owners."""
    return _contacts(organization_id, Role.OWNER)


def billing_language(organization_id: UUID) -> str:
    """What invoices are written in: as the organization says, else its first owner's language."""
    account = BillingAccount.objects.filter(organization_id=organization_id).first()
    if account is not None and account.language:
        return account.language
    owners = _members(organization_id, Role.OWNER).order_by("pk")
    return next((language_of(owner.user) for owner in owners), "")


def _contacts(organization_id: UUID, *roles: Role) -> list[Contact]:
    members = _members(organization_id, *roles).order_by("user__email")
    return [Contact(member.user.email, language_of(member.user)) for member in members]


def _members(organization_id: UUID, *roles: Role) -> QuerySet[Membership]:
    return Membership.objects.filter(
        organization_id=organization_id, role__in=roles, user__is_active=True
    ).select_related("user")


def seller(country: str = "") -> dict[str, str]:
    """Who issues invoices to customers of a country; set by the installation."""
    taxes = settings.BILLING_TAXES.get(country)
    return {
        "name": settings.BILLING_SELLER_NAME,
        "address": settings.BILLING_SELLER_ADDRESS,
        "tax_id": (taxes and taxes.seller_tax_id) or settings.BILLING_SELLER_TAX_ID,
    }
