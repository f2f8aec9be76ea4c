"""Tables of `billing`, one file a noun."""

from billing.models.abuse import (
    AbuseClient,
    AbuseFlag,
    AbuseHour,
    AbusePolicy,
    AbuseReason,
    AbuseSeen,
    SubjectKind,
)
from billing.models.accounts import BillingAccount
from billing.models.budgets import Budget, BudgetAlert
from billing.models.costs import ModelCost
from billing.models.credit import CreditEntry, CreditKind
from billing.models.engines import EngineHour
from billing.models.invoices import (
    DocumentKind,
    Invoice,
    InvoiceLine,
    InvoiceSeries,
    InvoiceStatus,
)
from billing.models.outbox import OutboxEvent
from billing.models.payments import (
    Collection,
    CollectionState,
    DunningStep,
    PaymentCustomer,
    PaymentEvent,
    PaymentReversal,
    PlanPeriod,
    PlanPrice,
    ReversalKind,
    SurplusPayment,
    TopUp,
    TopUpState,
)
from billing.models.prices import Price, PriceFactor
from billing.models.reconciliation import ReconciliationRun
from billing.models.usage import (
    UnaggregatedUsage,
    UsageDay,
    UsageEvent,
    UsageRecord,
    UsageRollup,
    UsageState,
    UsageSum,
)
from billing.models.webhooks import WebhookDelivery, WebhookEndpoint, WebhookType

__all__ = [
    "AbuseClient",
    "AbuseFlag",
    "AbuseHour",
    "AbusePolicy",
    "AbuseReason",
    "AbuseSeen",
    "BillingAccount",
    "Budget",
    "BudgetAlert",
    "Collection",
    "CollectionState",
    "CreditEntry",
    "CreditKind",
    "DocumentKind",
    "DunningStep",
    "EngineHour",
    "Invoice",
    "InvoiceLine",
    "InvoiceSeries",
    "InvoiceStatus",
    "ModelCost",
    "OutboxEvent",
    "PaymentCustomer",
    "PaymentEvent",
    "PaymentReversal",
    "PlanPeriod",
    "PlanPrice",
    "Price",
    "PriceFactor",
    "ReconciliationRun",
    "ReversalKind",
    "SubjectKind",
    "SurplusPayment",
    "TopUp",
    "TopUpState",
    "UnaggregatedUsage",
    "UsageDay",
    "UsageEvent",
    "UsageRecord",
    "UsageRollup",
    "UsageState",
    "UsageSum",
    "WebhookDelivery",
    "WebhookEndpoint",
    "WebhookType",
]
