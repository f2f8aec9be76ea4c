"""Tables of usage and money."""

from django.utils.translation import gettext_noop

from backend.rights.table import Fate, Table
from backend.rights.tables.reasons import ACCOUNTING

MONEY: tuple[Table, ...] = (
    Table(
        label="billing.UsageRecord",
        user="user_id",
        organization="organization_id",
        on_user=Fate.BLANKED,
        on_organization=Fate.BLANKED,
        blank={"client_hash": ""},
        hidden=("client_hash",),
        why=ACCOUNTING,
    ),
    Table(
        label="billing.UsageEvent",
        user="user_id",
        organization="organization_id",
        on_user=Fate.BLANKED,
        on_organization=Fate.BLANKED,
        blank={"client_hash": ""},
        exported=False,
    ),
    Table(
        label="billing.UsageRollup",
        user="user_id",
        organization="organization_id",
        on_user=Fate.KEPT,
        on_organization=Fate.KEPT,
        exported=False,
        why=ACCOUNTING,
    ),
    Table(
        label="billing.UsageDay",
        user="user_id",
        organization="organization_id",
        on_user=Fate.KEPT,
        on_organization=Fate.KEPT,
        exported=False,
        why=ACCOUNTING,
    ),
    Table(
        label="billing.UsageSum",
        user="user_id",
        organization="organization_id",
        on_user=Fate.KEPT,
        on_organization=Fate.KEPT,
        exported=False,
        why=ACCOUNTING,
    ),
    Table(
        label="billing.InvoiceLine",
        organization="invoice__organization_id",
        on_organization=Fate.KEPT,
        why=ACCOUNTING,
    ),
    Table(
        label="billing.CreditEntry",
        organization="organization_id",
        on_organization=Fate.KEPT,
        hidden=("created_by_id",),
        why=ACCOUNTING,
    ),
    Table(
        label="billing.Invoice",
        organization="organization_id",
        on_organization=Fate.KEPT,
        why=gettext_noop(
            "Accounting law: invoices are kept as they were issued, with the customer's address."
        ),
    ),
    *(
        Table(
            label=f"billing.{name}",
            organization=lookup,
            on_organization=Fate.KEPT,
            hidden=hidden,
            why=ACCOUNTING,
        )
        for name, lookup, hidden in (
            ("TopUp", "organization_id", ("created_by_id",)),
            ("Collection", "invoice__organization_id", ()),
            ("PaymentReversal", "organization_id", ()),
            ("SurplusPayment", "organization_id", ()),
            ("DunningStep", "invoice__organization_id", ()),
            ("PlanPeriod", "organization_id", ()),
        )
    ),
    Table(label="billing.PaymentCustomer", organization="organization_id"),
    Table(
        label="billing.BillingAccount",
        organization="organization_id",
        on_organization=Fate.BLANKED,
        blank={"email": ""},
        why=gettext_noop("Accounting law: name and address of who is invoiced."),
    ),
    Table(
        label="billing.Price",
        organization="organization_id",
        on_organization=Fate.KEPT,
        hidden=("created_by_id", "note"),
        why=ACCOUNTING,
    ),
    Table(
        label="billing.BudgetAlert",
        organization="budget__organization_id",
        on_organization=Fate.WITH_PARENT,
    ),
    Table(label="billing.Budget", organization="organization_id"),
    Table(
        label="billing.WebhookDelivery",
        organization="endpoint__organization_id",
        on_organization=Fate.WITH_PARENT,
    ),
    Table(
        label="billing.WebhookEndpoint",
        organization="organization_id",
        hidden=("encrypted_secret",),
    ),
    Table(label="billing.AbuseHour", user="subject_id", exported=False),
    Table(
        label="billing.AbuseFlag",
        user="subject_id",
        organization="organization_id",
        exported=False,
    ),
)
