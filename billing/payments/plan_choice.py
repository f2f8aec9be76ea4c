"""Choosing a plan: among those that have a price in the organization's currency."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from backend.accounts.models import Organization
from backend.accounts.principal import Principal
from backend.audit.actions import Action
from backend.audit.services import record
from backend.platform.errors import Conflict, NotFound, RateLimited
from billing.accounts import terms_of
from billing.models import PaymentCustomer, PlanPeriod, PlanPrice
from billing.payments.port import PaymentsNotConfigured
from billing.payments.provider import is_configured
from billing.permissions import require_money_writer

MAX_CHANGES_AN_HOUR = 10


@transaction.atomic
def plan_choose(*, principal: Principal, slug: str, now: datetime) -> None:
    """Change to a plan, from now on (keys know it within ten seconds); the same again changes
    nothing. It costs for the time that it is had.

    Raises:
        RateLimited: changed too often in an hour.
        NotFound: no such plan with a price in the organization's currency.
        Conflict: it costs something and there is no payment method.
        PaymentsNotConfigured: it costs something and nobody can pay here.
        PermissionDenied.
    """
    require_money_writer(principal)
    organization = Organization.objects.select_for_update().get(pk=principal.organization_id)
    currency = terms_of(organization.pk).currency
    price = PlanPrice.objects.filter(plan_id=slug, currency=currency).first()
    if price is None:
        raise NotFound(f"There is no plan {slug!r} with a price in {currency}.", param="plan")
    if price.amount:
        _require_method(organization.pk)
    if organization.plan_id == slug:
        return
    changes = PlanPeriod.objects.filter(
        organization=organization, began_at__gt=now - timedelta(hours=1)
    )
    if changes.count() >= MAX_CHANGES_AN_HOUR:
        raise RateLimited("The plan was changed too often in this hour.", retry_after=3600)
    PlanPeriod.objects.filter(organization=organization, ended_at=None).update(ended_at=now)
    PlanPeriod.objects.create(
        organization=organization,
        plan_id=slug,
        amount=price.amount,
        currency=currency,
        began_at=now,
    )
    organization.plan_id = slug
    organization.save(update_fields=["plan"])
    record(
        Action.PLAN_UPDATED,
        organization_id=organization.pk,
        actor=principal,
        details={"plan": slug, "amount": str(price.amount), "currency": currency},
    )


def _require_method(organization_id: UUID) -> None:
    if not is_configured():
        raise PaymentsNotConfigured
    paying = PaymentCustomer.objects.filter(organization_id=organization_id).exclude(method_id="")
    if not paying.exists():
        raise Conflict("Add a payment method first.", code="payment_method_missing")
