"""What the billing page shows. Only of the caller's organization."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db.models import Q

from backend.accounts.models import Organization
from backend.accounts.principal import Principal
from backend.platform.errors import NotFound
from billing.accounts import terms_of
from billing.budgets.selectors import credit_view
from billing.invoices.selectors import invoice_owed
from billing.models import (
    BillingAccount,
    DocumentKind,
    Invoice,
    InvoiceStatus,
    PaymentCustomer,
    PlanPrice,
    TopUp,
)
from billing.payments.provider import is_configured
from billing.permissions import require_manager


@dataclass(frozen=True, slots=True)
class PricedPlan:
    """A plan that can be chosen; `amount` a month."""

    slug: str
    name: str
    amount: Decimal


@dataclass(frozen=True, slots=True)
class UnpaidInvoice:
    number: str
    total: Decimal
    currency: str
    due_at: datetime | None


@dataclass(frozen=True, slots=True)
class Details:
    """Who is invoiced."""

    legal_name: str
    address: str
    tax_id: str
    country: str
    email: str
    language: str


@dataclass(frozen=True, slots=True)
class BillingOverview:
    """How an organization pays, and what it owes."""

    is_configured: bool
    currency: str
    plan: str
    plan_name: str
    plans: list[PricedPlan]
    payment_method: str | None
    is_prepaid: bool
    credit: Decimal
    unpaid: list[UnpaidInvoice]
    details: Details


def billing_overview(*, principal: Principal) -> BillingOverview:
    """Raises PermissionDenied."""
    require_manager(principal)
    organization_id = principal.organization_id
    organization = Organization.objects.select_related("plan").get(pk=organization_id)
    terms = terms_of(organization_id)
    credit = credit_view(principal=principal)
    customer = PaymentCustomer.objects.filter(organization_id=organization_id).first()
    account = BillingAccount.objects.filter(organization_id=organization_id).first()
    prices = PlanPrice.objects.filter(currency=terms.currency).select_related("plan")
    unpaid = Invoice.objects.filter(
        organization_id=organization_id,
        kind=DocumentKind.INVOICE,
        status=InvoiceStatus.OPEN,
        total__gt=0,
    ).order_by("due_at")[:100]
    return BillingOverview(
        is_configured=is_configured(),
        currency=terms.currency,
        plan=str(organization.plan_id),
        plan_name=organization.plan.name,
        plans=[
            PricedPlan(price.plan_id, price.plan.name, price.amount)
            for price in prices.order_by("amount", "plan_id")
        ],
        payment_method=(customer and customer.method_label) or None,
        is_prepaid=credit.is_prepaid,
        credit=credit.remaining,
        unpaid=[
            UnpaidInvoice(each.reference, owed, each.currency, each.due_at)
            for each in unpaid
            if (owed := invoice_owed(each))
        ],
        details=Details(
            terms.legal_name,
            terms.address,
            terms.tax_id,
            terms.country,
            account.email if account else "",
            account.language if account else "",
        ),
    )


def top_ups_list(
    *, principal: Principal, limit: int, after: UUID | None
) -> tuple[list[TopUp], bool]:
    """Newest first, those after `after`; and whether there are more.

    Raises: PermissionDenied; NotFound: `after` is none of the caller's.
    """
    require_manager(principal)
    own = TopUp.objects.filter(organization_id=principal.organization_id)
    found = own.order_by("-created_at", "-id")
    if after is not None:
        last = own.filter(pk=after).first()
        if last is None:
            raise NotFound("No such top-up.", param="after")
        older = Q(created_at__lt=last.created_at) | Q(created_at=last.created_at, id__lt=last.pk)
        found = found.filter(older)
    page = list(found[: limit + 1])
    return page[:limit], len(page) > limit
