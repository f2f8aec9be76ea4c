"""`/api/invoices`, `/api/budgets`, `/api/credit`, `/api/webhooks`: what customers see of billing.

Routers only; `backend.api` mounts them with its authentication. Everything here is for owners,
admins and finance members of the caller's organization.
"""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

from django.http import HttpResponse
from ninja import Query, Router, Status
from pydantic import Field

from backend.accounts.principal import AuthenticatedRequest
from backend.platform.database import in_database
from billing.budgets.selectors import BudgetState, budget_get, budgets_list, credit_view
from billing.budgets.services import budget_delete, budget_set
from billing.http import In, Money, Out, document_response
from billing.invoices.selectors import invoice_get, invoices_list
from billing.models import Invoice
from billing.webhooks.services import (
    deliveries_list,
    endpoints_list,
    webhook_create,
    webhook_delete,
    webhook_enable,
    webhook_replay,
)

invoices = Router(tags=["billing"])
budgets = Router(tags=["billing"])
credit = Router(tags=["billing"])
webhooks = Router(tags=["billing"])

Limit = Annotated[int, Query(ge=1, le=100)]
After = Annotated[str | None, Query(max_length=40, description="`next_cursor` of the page before.")]
RowId = Annotated[int, Field(ge=1, le=2**63 - 1)]


class InvoiceOut(Out):
    id: int
    number: str
    kind: Literal["invoice", "credit_note"]
    status: Literal["open", "paid", "void"]
    period: str = Field(description="A month, such as 2026-11.")
    currency: str
    subtotal: Money
    credit_applied: Money
    tax_rate: Money
    tax: Money
    total: Money
    corrects: str | None = Field(description="Of a credit note: the invoice's number.")
    reason: str
    issued_at: datetime
    due_at: datetime | None
    paid_at: datetime | None


class InvoiceLineOut(Out):
    project_id: UUID
    project_name: str
    model: str
    usage_month: date
    is_late: bool
    at_project_price: bool = Field(description="At prices of the project's own.")
    requests: int
    input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    reasoning_tokens: int
    image_tokens: int
    cached_output_tokens: int
    amount: Money = Field(description="Exact; only the invoice's totals are rounded.")


class InvoiceDetailOut(InvoiceOut):
    lines: list[InvoiceLineOut]


class InvoiceListOut(Out):
    data: list[InvoiceOut]
    next_cursor: str | None


class BudgetIn(In):
    amount: Annotated[Decimal, Field(ge=0, max_digits=16, decimal_places=2, strict=False)]
    is_hard: bool = False
    project_id: Annotated[UUID, Field(strict=False)] | None = None
    key_id: Annotated[UUID, Field(strict=False)] | None = None


class BudgetOut(Out):
    id: int
    scope: Literal["organization", "project", "key"]
    label: str
    project_id: UUID | None
    key_id: UUID | None
    amount: Money
    currency: str
    is_hard: bool
    spent: Money = Field(description="In the current month, exact.")


class BudgetListOut(Out):
    data: list[BudgetOut]
    next_cursor: str | None


class CreditOut(Out):
    is_prepaid: bool
    currency: str
    remaining: Money


EventType = Annotated[str, Field(max_length=100)]


class WebhookIn(In):
    url: Annotated[str, Field(max_length=500)]
    types: Annotated[list[EventType], Field(min_length=1, max_length=20)]


class WebhookOut(Out):
    id: UUID
    url: str
    types: list[str]
    enabled: bool
    failures: int = Field(description="In a row; 0 once a delivery has arrived.")
    failing_since: datetime | None
    disabled_at: datetime | None = Field(
        description="Since when it is not called any more, after repeated failure."
    )
    created_at: datetime


class NewWebhookOut(WebhookOut):
    secret: str = Field(description="Signs what is sent; shown this once.")


class WebhookListOut(Out):
    data: list[WebhookOut]


class DeliveryOut(Out):
    id: UUID
    event_id: UUID
    type: str
    state: Literal["delivered", "pending", "failed"]
    attempts: int
    status_code: int | None
    error: str
    created_at: datetime
    delivered_at: datetime | None
    next_attempt_at: datetime | None


class DeliveryListOut(Out):
    data: list[DeliveryOut]
    next_cursor: str | None


@invoices.get("", response=InvoiceListOut)
async def list_invoices(
    request: AuthenticatedRequest, limit: Limit = 20, after: After = None
) -> InvoiceListOut:
    """Issued invoices and credit notes, newest first."""
    page = await in_database(invoices_list, principal=request.auth, limit=limit, after=after)
    return InvoiceListOut(
        data=[InvoiceOut.model_validate(_invoice(each)) for each in page.items],
        next_cursor=page.next_cursor,
    )


@invoices.get("/{int:invoice_id}", response=InvoiceDetailOut)
async def get_invoice(request: AuthenticatedRequest, invoice_id: int) -> InvoiceDetailOut:
    """One invoice with its lines."""
    invoice = await in_database(invoice_get, principal=request.auth, invoice_id=invoice_id)
    return InvoiceDetailOut.model_validate(
        {**_invoice(invoice), "lines": list(invoice.lines.all())}
    )


@invoices.get("/{int:invoice_id}/document.{kind}", response=bytes)
async def download_invoice(
    request: AuthenticatedRequest, invoice_id: int, kind: Literal["pdf", "csv"]
) -> HttpResponse:
    """The document as PDF, or its lines as CSV."""
    invoice = await in_database(invoice_get, principal=request.auth, invoice_id=invoice_id)
    return await in_database(document_response, invoice, kind, actor=request.auth)


@budgets.get("", response=BudgetListOut)
async def list_budgets(
    request: AuthenticatedRequest, limit: Limit = 100, after: After = None
) -> BudgetListOut:
    """Monthly budgets and what is spent of them."""
    states, following = await in_database(
        budgets_list, principal=request.auth, limit=limit, after=after
    )
    return BudgetListOut(data=[_budget(state) for state in states], next_cursor=following)


@budgets.post("", response={200: BudgetOut})
async def set_budget(request: AuthenticatedRequest, body: BudgetIn) -> BudgetOut:
    """Set the soft or the hard budget of the organization, a project or a key.

    Setting it again changes its amount: there is one soft and one hard budget for each.
    """
    budget = await in_database(budget_set, principal=request.auth, **body.model_dump())
    state = await in_database(budget_get, principal=request.auth, budget_id=budget.pk)
    return _budget(state)


@budgets.delete("/{int:budget_id}", response={204: None})
async def delete_budget(request: AuthenticatedRequest, budget_id: int) -> Status:
    """Remove a budget."""
    await in_database(budget_delete, principal=request.auth, budget_id=budget_id)
    return Status(204, None)


@credit.get("", response=CreditOut)
async def get_credit(request: AuthenticatedRequest) -> CreditOut:
    """What is left of prepaid credit, after all usage so far."""
    return CreditOut.model_validate(await in_database(credit_view, principal=request.auth))


@webhooks.get("", response=WebhookListOut)
async def list_webhooks(request: AuthenticatedRequest) -> WebhookListOut:
    """Where this organization is notified."""
    found = await in_database(endpoints_list, principal=request.auth)
    return WebhookListOut(data=[WebhookOut.model_validate(each) for each in found])


@webhooks.post("", response={201: NewWebhookOut})
async def create_webhook(request: AuthenticatedRequest, body: WebhookIn) -> Status:
    """Be notified at a URL. `types`: `budget.threshold_reached`, `invoice.issued`, …"""
    endpoint = await in_database(
        webhook_create, principal=request.auth, url=body.url, types=body.types
    )
    return Status(201, NewWebhookOut.model_validate(endpoint))


@webhooks.delete("/{uuid:endpoint_id}", response={204: None})
async def delete_webhook(request: AuthenticatedRequest, endpoint_id: UUID) -> Status:
    """Stop being notified there."""
    await in_database(webhook_delete, principal=request.auth, endpoint_id=endpoint_id)
    return Status(204, None)


@webhooks.post("/{uuid:endpoint_id}/enable", response=WebhookOut)
async def enable_webhook(request: AuthenticatedRequest, endpoint_id: UUID) -> WebhookOut:
    """Be notified there again, after repeated failure had disabled it; what waited is sent."""
    endpoint = await in_database(webhook_enable, principal=request.auth, endpoint_id=endpoint_id)
    return WebhookOut.model_validate(endpoint)


@webhooks.get("/deliveries", response=DeliveryListOut)
async def list_deliveries(
    request: AuthenticatedRequest, limit: Limit = 100, after: After = None
) -> DeliveryListOut:
    """What was sent and what came of it, newest first."""
    page = await in_database(deliveries_list, principal=request.auth, limit=limit, after=after)
    return DeliveryListOut(
        data=[DeliveryOut.model_validate(each) for each in page.items],
        next_cursor=page.next_cursor,
    )


@webhooks.post("/deliveries/{uuid:delivery_id}/replay", response=DeliveryOut)
async def replay_delivery(request: AuthenticatedRequest, delivery_id: UUID) -> DeliveryOut:
    """Send a delivery again, with the same event id."""
    found = await in_database(webhook_replay, principal=request.auth, delivery_id=delivery_id)
    return DeliveryOut.model_validate(found)


def _invoice(invoice: Invoice) -> dict[str, object]:
    names = InvoiceOut.model_fields.keys() - {"number", "period", "corrects"}
    return {
        **{name: getattr(invoice, name) for name in names},
        "number": invoice.reference,
        "period": f"{invoice.period_start:%Y-%m}",
        "corrects": None if invoice.corrects is None else invoice.corrects.reference,
    }


def _budget(state: BudgetState) -> BudgetOut:
    budget = state.budget
    return BudgetOut(
        id=budget.pk,
        scope=budget.scope,
        label=state.label,
        project_id=budget.project_id,
        key_id=budget.key_id,
        amount=budget.amount,
        currency=state.currency,
        is_hard=budget.is_hard,
        spent=state.spent,
    )
