"""The events that customers can subscribe to, queued in the transaction of what happened."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from billing.models import BudgetAlert, Invoice, WebhookDelivery, WebhookEndpoint, WebhookType


def budget_event(alert: BudgetAlert) -> None:
    budget = alert.budget
    _emit(
        budget.organization_id,
        WebhookType.BUDGET_THRESHOLD,
        {
            "budget_id": budget.pk,
            "scope": budget.scope,
            "project_id": None if budget.project_id is None else str(budget.project_id),
            "key_id": None if budget.key_id is None else str(budget.key_id),
            "month": f"{alert.month:%Y-%m}",
            "threshold_percent": alert.threshold,
            "amount": f"{budget.amount:.2f}",
            "spent": f"{alert.spent:.6f}",
            "is_hard": budget.is_hard,
        },
    )


def invoice_event(kind: str, invoice: Invoice) -> None:
    """`kind`: one of the `invoice.*` and `credit_note.*` types."""
    _emit(
        invoice.organization_id,
        WebhookType(kind),
        {
            "invoice_id": invoice.pk,
            "number": invoice.reference,
            "kind": invoice.kind,
            "status": invoice.status,
            "period": f"{invoice.period_start:%Y-%m}",
            "currency": invoice.currency,
            "total": f"{invoice.total:.2f}",
        },
    )


def batch_event(organization_id: UUID, *, batch_id: str, state: str) -> None:
    """A batch has ended as `completed`, `failed`, `expired` or `cancelled`."""
    _emit(organization_id, WebhookType(f"batch.{state}"), {"id": batch_id})


def _emit(organization_id: UUID, kind: WebhookType, data: dict[str, Any]) -> None:
    """Queue the event for every endpoint of the organization that wants it."""
    event_id, now = uuid4(), datetime.now(UTC)
    payload = {
        "id": str(event_id),
        "type": str(kind),
        "created_at": now.isoformat(),
        "organization_id": str(organization_id),
        "data": data,
    }
    WebhookDelivery.objects.bulk_create(
        WebhookDelivery(
            endpoint=endpoint,
            event_id=event_id,
            type=kind,
            payload=payload,
            next_attempt_at=now,
        )
        for endpoint in WebhookEndpoint.objects.filter(
            organization_id=organization_id, enabled=True, types__contains=[kind]
        )
    )
