"""`/api/billing`: plan, payment method, prepaid credit, who is invoiced; and the provider's events.

For owners, admins and finance members, as all money; the events come from the payment provider and
are known by its signature alone. `backend.api` mounts the routers.
"""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

from django.http import HttpRequest
from ninja import Query, Router, Status
from pydantic import Field

from backend.accounts.principal import AuthenticatedRequest
from backend.platform.bounded_threads import BoundedThreads
from backend.platform.database import in_database
from backend.platform.errors import PayloadTooLarge
from billing.details import billing_details_set
from billing.http import In, Money, Out
from billing.payments.plan_choice import plan_choose
from billing.payments.selectors import billing_overview, top_ups_list
from billing.payments.services import event_take, method_page, method_remove, top_up_begin

billing = Router(tags=["billing"])
events = Router(tags=["billing"])

# They wait for another server, for seconds where it is slow; all else must not wait with them.
PAYMENT_THREADS = BoundedThreads("payments", at_once=4, waiting=40)
_MAX_EVENT_BYTES = 256 * 1024


class PlanOut(Out):
    slug: str
    name: str
    amount: Money = Field(description="A month, before tax.")


class UnpaidOut(Out):
    number: str
    total: Money
    currency: str
    due_at: datetime | None


class DetailsOut(Out):
    legal_name: str
    address: str
    tax_id: str
    country: str
    email: str
    language: str = Field(description="Of invoices, BCP 47; empty: the owner's.")


class DetailsIn(In):
    """Who is invoiced; what is left out stays."""

    legal_name: Annotated[str, Field(max_length=200)] | None = None
    address: Annotated[str, Field(max_length=1000)] | None = None
    tax_id: Annotated[str, Field(max_length=60)] | None = None
    country: Annotated[str, Field(pattern="^([A-Z]{2})?$", description="ISO 3166.")] | None = None
    email: Annotated[str, Field(max_length=254)] | None = None
    language: Annotated[str, Field(max_length=10)] | None = None


class BillingOut(Out):
    is_configured: bool = Field(description="Whether customers can pay on this installation.")
    currency: str
    plan: str
    plan_name: str
    plans: list[PlanOut]
    payment_method: str | None
    is_prepaid: bool
    credit: Money
    unpaid: list[UnpaidOut]
    details: DetailsOut


class PlanIn(In):
    plan: Annotated[str, Field(max_length=50)]


class PaymentPageOut(Out):
    url: str = Field(description="At the payment provider; it leads back to /billing.")


class TopUpIn(In):
    amount: Annotated[Decimal, Field(gt=0, max_digits=12, decimal_places=2, strict=False)]


class TopUpOut(Out):
    id: UUID
    amount: Money
    currency: str
    state: Literal["pending", "paid", "expired"]
    taken_back: Money = Field(description="By refunds and disputes.")
    created_at: datetime
    paid_at: datetime | None


class NewTopUpOut(TopUpOut):
    url: str = Field(description="Where it is paid.")


class TopUpListOut(Out):
    data: list[TopUpOut]
    has_more: bool


class EventOut(Out):
    effect: str


@billing.get("", response=BillingOut)
async def get_billing(request: AuthenticatedRequest) -> BillingOut:
    """How the organization pays, and what it owes."""
    return BillingOut.model_validate(await in_database(billing_overview, principal=request.auth))


@billing.put("/plan", response=BillingOut)
async def choose_plan(request: AuthenticatedRequest, body: PlanIn) -> BillingOut:
    """Change the plan from now on; the month's invoice charges it for the time that it is had."""
    await in_database(plan_choose, principal=request.auth, slug=body.plan, now=_now())
    return BillingOut.model_validate(await in_database(billing_overview, principal=request.auth))


@billing.patch("/details", response=BillingOut)
async def set_billing_details(request: AuthenticatedRequest, body: DetailsIn) -> BillingOut:
    """Who is invoiced, from the next invoice on."""
    changes = body.model_dump(exclude_none=True)
    await in_database(billing_details_set, principal=request.auth, changes=changes)
    return BillingOut.model_validate(await in_database(billing_overview, principal=request.auth))


@billing.post("/payment-method", response=PaymentPageOut)
async def add_payment_method(request: AuthenticatedRequest) -> PaymentPageOut:
    """Where a payment method is given: at the provider."""
    return PaymentPageOut(url=await PAYMENT_THREADS.run(method_page, principal=request.auth))


@billing.delete("/payment-method", response={204: None})
async def remove_payment_method(request: AuthenticatedRequest) -> Status:
    """Forget the payment method, here and at the provider."""
    await PAYMENT_THREADS.run(method_remove, principal=request.auth)
    return Status(204, None)


@billing.get("/top-ups", response=TopUpListOut)
async def list_top_ups(
    request: AuthenticatedRequest,
    limit: int = Query(20, ge=1, le=100),
    after: UUID | None = None,
) -> TopUpListOut:
    """Credit that was bought, newest first."""
    page, has_more = await in_database(
        top_ups_list, principal=request.auth, limit=limit, after=after
    )
    return TopUpListOut(data=[TopUpOut.model_validate(each) for each in page], has_more=has_more)


@billing.post("/top-ups", response={201: NewTopUpOut})
async def top_up(request: AuthenticatedRequest, body: TopUpIn) -> Status:
    """Buy prepaid credit: it is there once the provider says that it was paid."""
    begun, url = await PAYMENT_THREADS.run(
        top_up_begin, principal=request.auth, amount=body.amount, now=_now()
    )
    shown = TopUpOut.model_validate(begun).model_dump()
    return Status(201, NewTopUpOut(**{**shown, "amount": begun.amount, "url": url}))


@events.post("/stripe", response=EventOut)
async def take_stripe_event(request: HttpRequest) -> EventOut:
    """Events of Stripe, by their signature. Again, or in another order: no other effect."""
    if len(request.body) > _MAX_EVENT_BYTES:
        raise PayloadTooLarge(f"An event has at most {_MAX_EVENT_BYTES} bytes.")
    effect = await PAYMENT_THREADS.run(
        event_take,
        body=request.body,
        signature=request.headers.get("Stripe-Signature", ""),
        now=_now(),
    )
    return EventOut(effect=effect)


def _now() -> datetime:
    return datetime.now(UTC)
