"""Every table of every app, and what an erasure and an export do with its rows.

A model that is missing here fails tests/rights/test_registry.py. The order is that of an erasure:
what points at another row comes before it.
"""

from django.apps import apps
from django.utils.translation import gettext_noop

from backend.rights.table import Fate, Table

__all__ = ["BY_LABEL", "TABLES", "Fate", "Table", "unregistered"]

ACCOUNTING = gettext_noop(
    "Accounting law: kept for as long as invoices are; it names ids that lead to nobody."
)
EVIDENCE = gettext_noop("Evidence of what was done and agreed; it names ids that lead to nobody.")


def _none(label: str, why: str) -> Table:
    return Table(label=label, why=why, exported=False)


_SETTINGS = "The operator's settings."
_IDS = "Holds ids only, for some days."

TABLES: tuple[Table, ...] = (
    # --- what users wrote, and what was answered
    Table(
        label="audit.StoredText",
        user="decision__user_id",
        organization="decision__organization_id",
        hidden=("ciphertext",),
        extra=("text",),
    ),
    Table(
        label="audit.Review",
        user="decision__user_id",
        organization="decision__organization_id",
        hidden=("note", "reviewer_id"),
    ),
    Table(
        label="audit.SafetyDecisionRecord",
        user="user_id",
        organization="organization_id",
        hidden=("signals", "failed"),
    ),
    Table(label="audit.SafetyPolicy", organization="organization_id", hidden=("created_by_id",)),
    Table(
        label="conversations.Feedback",
        user="user_id",
        organization="message__conversation__organization_id",
    ),
    Table(
        label="conversations.Share",
        user="created_by_id",
        organization="conversation__organization_id",
        hidden=("token_sha256",),
    ),
    Table(
        label="conversations.Passage",
        user="attachment__user_id",
        organization="attachment__organization_id",
        on_user=Fate.WITH_PARENT,
        on_organization=Fate.WITH_PARENT,
        hidden=("search", "embedding", "embedding_model"),
    ),
    Table(
        label="conversations.Attachment",
        user="user_id",
        organization="organization_id",
        stored=("file",),
        hidden=("file",),
    ),
    Table(
        label="tools.ToolCall",
        user="round__message__conversation__user_id",
        organization="round__message__conversation__organization_id",
        hidden=("decided_by_id", "fingerprint", "run_id", "run_until"),
    ),
    Table(
        label="tools.ToolRound",
        user="message__conversation__user_id",
        organization="message__conversation__organization_id",
        exported=False,
        why=_IDS,
    ),
    Table(
        label="tools.ToolGrant",
        user="user_id",
        organization="tool__server__organization_id",
        hidden=("fingerprint",),
    ),
    Table(label="tools.ToolUse", user="user_id", organization="server__organization_id"),
    Table(
        label="tools.ToolConnection",
        user="user_id",
        organization="organization_id",
        hidden=("encrypted_tokens", "client_id", "connected_by_id"),
    ),
    Table(
        label="tools.OAuthClient",
        organization="organization_id",
        hidden=("encrypted_secret",),
    ),
    Table(label="tools.Tool", organization="server__organization_id", hidden=("fingerprint",)),
    Table(label="tools.ToolServer", organization="organization_id", hidden=("encrypted_token",)),
    Table(
        label="conversations.ConversationSummary",
        user="conversation__user_id",
        organization="conversation__organization_id",
        on_user=Fate.WITH_PARENT,
        on_organization=Fate.WITH_PARENT,
    ),
    Table(
        label="conversations.Message",
        user="conversation__user_id",
        organization="conversation__organization_id",
        on_user=Fate.WITH_PARENT,
        on_organization=Fate.WITH_PARENT,
    ),
    Table(label="conversations.Conversation", user="user_id", organization="organization_id"),
    Table(
        label="tools.AssistantTools",
        user="assistant__user_id",
        organization="assistant__organization_id",
    ),
    Table(label="conversations.Assistant", user="user_id", organization="organization_id"),
    Table(label="conversations.ChatDefaults", user="user_id", organization="organization_id"),
    Table(label="conversations.Memory", user="user_id", organization="organization_id"),
    Table(label="conversations.MemorySettings", user="user_id", organization="organization_id"),
    Table(
        label="conversations.MemoryPolicy",
        organization="organization_id",
        hidden=("changed_by_id",),
    ),
    Table(
        label="conversations.SharingPolicy",
        organization="organization_id",
        hidden=("changed_by_id",),
    ),
    Table(
        label="conversations.ContentAccess",
        user="actor_id",
        organization="organization_id",
        on_user=Fate.KEPT,
        on_organization=Fate.KEPT,
        hidden=("actor_id",),
        why=EVIDENCE,
    ),
    Table(
        label="generation.StoredAnswer",
        user="generation__user_id",
        organization="generation__organization_id",
    ),
    Table(
        label="generation.CachedAnswer",
        user="user_id",
        organization="organization_id",
        hidden=("ciphertext", "digest"),
        exported=False,
    ),
    Table(
        label="api.UploadPart",
        user="upload__user_id",
        organization="upload__organization_id",
        stored=("file",),
        exported=False,
    ),
    Table(label="api.Upload", user="user_id", organization="organization_id"),
    Table(
        label="api.StoredFile",
        user="user_id",
        organization="organization_id",
        stored=("file",),
        hidden=("file",),
    ),
    Table(label="api.BatchLine", user="batch__user_id", organization="batch__organization_id"),
    Table(label="api.Batch", user="user_id", organization="organization_id"),
    Table(label="api.StoredResponse", user="user_id", organization="organization_id"),
    Table(label="api.StoredChat", user="user_id", organization="organization_id"),
    Table(
        label="api.RequestLog",
        user="user_id",
        organization="organization_id",
        hidden=("ciphertext",),
        extra=("content",),
    ),
    Table(
        label="api.RequestCount",
        user="api_key__created_by_id",
        organization="organization_id",
        exported=False,
    ),
    Table(
        label="api.IdempotencyRecord",
        user="user_id",
        organization="organization_id",
        exported=False,
    ),
    Table(
        label="generation.Generation",
        user="user_id",
        organization="organization_id",
        on_user=Fate.BLANKED,
        blank={
            "user_id": None,
            "client_hash": "",
            "request_id": "",
            "conversation_id": None,
            "message_id": None,
        },
        hidden=("client_hash", "epoch", "replica"),
    ),
    # --- money
    Table(
        label="billing.UsageRecord",
        user="user_id",
        organization="organization_id",
        on_user=Fate.KEPT,
        on_organization=Fate.KEPT,
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
    # --- people and organizations
    Table(
        label="enterprise.Identity",
        user="user_id",
        organization="connection__organization_id",
    ),
    Table(
        label="enterprise.OIDCSettings",
        organization="connection__organization_id",
        hidden=("encrypted_secret",),
    ),
    Table(label="enterprise.SAMLSettings", organization="connection__organization_id"),
    Table(label="enterprise.Connection", organization="organization_id"),
    Table(
        label="enterprise.DirectoryToken",
        organization="organization_id",
        hidden=("sha256", "created_by_id"),
    ),
    Table(label="enterprise.DirectoryUser", user="user_id", organization="organization_id"),
    Table(label="enterprise.DirectoryGroup", organization="organization_id"),
    Table(label="enterprise.GroupRule", organization="organization_id"),
    Table(label="enterprise.GroupGrant", user="user_id", organization="organization_id"),
    Table(label="enterprise.AllowedNetwork", organization="organization_id"),
    Table(label="enterprise.SignInPolicy", organization="organization_id"),
    Table(label="accounts.AnnouncementDismissal", user="user_id"),
    Table(
        label="accounts.TermsAcceptance",
        user="user_id",
        on_user=Fate.BLANKED,
        blank={"address": None},
        why=EVIDENCE,
    ),
    Table(label="accounts.TrainingOptOut", user="user_id"),
    Table(label="accounts.DataPolicy", organization="organization_id"),
    Table(
        label="accounts.LegalHold",
        user="user_id",
        organization="organization_id",
        on_user=Fate.KEPT,
        on_organization=Fate.KEPT,
        exported=False,
        why=EVIDENCE,
    ),
    Table(
        label="accounts.Suspension",
        organization="organization_id",
        on_organization=Fate.KEPT,
        hidden=("began_by_id", "ended_by_id"),
        why=EVIDENCE,
    ),
    Table(label="accounts.ModelAccess", organization="organization_id"),
    Table(label="accounts.ServiceAccount", user="user_id", organization="project__organization_id"),
    Table(label="accounts.ProjectRateLimit", organization="project__organization_id"),
    Table(
        label="accounts.ProjectMember",
        user="membership__user_id",
        organization="project__organization_id",
    ),
    Table(label="accounts.JoinRequest", user="user_id", organization="organization_id"),
    Table(label="accounts.OrganizationDomain", organization="organization_id", hidden=("token",)),
    Table(
        label="accounts.Invitation",
        email="email",
        organization="organization_id",
        hidden=("token_sha256",),
    ),
    Table(
        label="accounts.APIKey",
        user="created_by_id",
        organization="organization_id",
        on_user=Fate.BLANKED,
        blank={"name": "", "prefix": "erased"},
        hidden=("sha256",),
    ),
    Table(label="accounts.Project", organization="organization_id"),
    Table(label="accounts.Membership", user="user_id", organization="organization_id"),
    Table(label="accounts.PendingSignUp", email="email", hidden=("password", "token_sha256")),
    Table(label="accounts.Mail", email="to", hidden=("ciphertext", "last_error")),
    Table(label="account.EmailConfirmation", user="email_address__user_id", hidden=("key",)),
    Table(label="account.EmailAddress", user="user_id"),
    Table(label="mfa.Authenticator", user="user_id", hidden=("data",)),
    Table(label="usersessions.UserSession", user="user_id", hidden=("session_key", "data")),
    Table(
        label="admin.LogEntry",
        user="user_id",
        on_user=Fate.KEPT,
        exported=False,
        why=gettext_noop(
            "What a member of staff has done; what it says of an erased subject is anonymised."
        ),
    ),
    Table(
        label="audit_log.AuditEvent",
        user="actor_id",
        organization="organization_id",
        on_user=Fate.KEPT,
        on_organization=Fate.KEPT,
        why=gettext_noop("Security: an append-only log without names, by which attacks are found."),
    ),
    Table(
        label="rights.DataExport",
        user="subject_id",
        organization="subject_id",
        stored=("file",),
        hidden=("file", "progress"),
        exported=False,
    ),
    Table(
        label="rights.Erasure",
        user="subject_id",
        organization="subject_id",
        on_user=Fate.KEPT,
        on_organization=Fate.KEPT,
        exported=False,
        why=gettext_noop("The certificates themselves."),
    ),
    Table(
        label="accounts.User",
        user="pk",
        on_user=Fate.BLANKED,
        hidden=("password", "is_superuser", "is_staff"),
        why=gettext_noop("An empty row stays: accounts of money and security point at its id."),
    ),
    Table(
        label="accounts.Organization",
        organization="pk",
        on_organization=Fate.BLANKED,
        blank={"name": "Erased organization"},
        why=gettext_noop("An empty row stays: invoices and the ledger point at its id."),
    ),
    # --- no subject's
    _none("sessions.Session", "Ended through usersessions.UserSession."),
    _none("auth.Permission", _SETTINGS),
    _none("auth.Group", _SETTINGS),
    _none("contenttypes.ContentType", _SETTINGS),
    _none("accounts.Plan", _SETTINGS),
    _none("generation.Pool", _SETTINGS),
    _none("generation.Rollout", _SETTINGS),
    _none("accounts.SignUpPolicy", _SETTINGS),
    _none("accounts.Announcement", _SETTINGS),
    _none("accounts.TermsVersion", _SETTINGS),
    _none("billing.AbusePolicy", _SETTINGS),
    _none("billing.PriceFactor", _SETTINGS),
    _none("billing.PlanPrice", _SETTINGS),
    _none("billing.PaymentEvent", _IDS),
    _none("billing.ModelCost", _SETTINGS),
    _none("billing.EngineHour", "What engines did, of all customers together."),
    _none("billing.AbuseSeen", _IDS),
    _none("billing.InvoiceSeries", "The last number of each series of documents."),
    _none("billing.AbuseClient", "A keyed hash of an address, for a day."),
    _none("billing.UnaggregatedUsage", _IDS),
    _none("billing.OutboxEvent", "Usage events on their way; deleted a week after."),
    _none("billing.ReconciliationRun", _IDS),
)

BY_LABEL = {table.label: table for table in TABLES}


def unregistered() -> list[str]:
    """Models of the installed apps that no line names."""
    return sorted({model._meta.label for model in apps.get_models()} - BY_LABEL.keys())
