"""Every table of every app, and what an erasure and an export do with its rows.

A model that is missing here fails tests/rights/test_registry.py. The order is that of an erasure:
what points at another row comes before it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from django.apps import apps
from django.db.models import Model, Q, QuerySet

from backend.rights.models import SubjectKind
from backend.rights.subject import Subject


class Fate(StrEnum):
    """What an erasure does with a subject's rows."""

    DELETED = "deleted"
    WITH_PARENT = "deleted with what it belongs to"
    BLANKED = "anonymised"
    KEPT = "kept"


ACCOUNTING = "Accounting law: kept for as long as invoices are; it names ids that lead to nobody."
EVIDENCE = "Evidence of what was done and agreed; it names ids that lead to nobody."


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """How one table is handled.

    Attributes:
        user, organization: lookups of the subject's id; None: no row is theirs.
        email: the field that holds the address of a user.
        on_user, on_organization: what an erasure does with the rows found.
        blank: the fields that are overwritten, with their values.
        hidden: fields that no export holds: secrets, and what is others'.
        extra: attributes that an export holds beside the fields.
        stored: fields with the name of a file in the storage, which an erasure deletes.
        exported: False: a copy of what another table has, or nothing but the product's own.
        why: of what is kept, shown in the certificate; of a table without subject, why none.
    """

    label: str
    user: str | None = None
    organization: str | None = None
    email: str | None = None
    on_user: Fate = Fate.DELETED
    on_organization: Fate = Fate.DELETED
    blank: Mapping[str, Any] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    stored: tuple[str, ...] = ()
    exported: bool = True
    why: str = ""

    @property
    def model(self) -> type[Model]:
        return apps.get_model(self.label)

    def fate(self, kind: str) -> Fate:
        return self.on_user if kind == SubjectKind.USER else self.on_organization

    def rows(self, subject: Subject) -> QuerySet[Model] | None:
        """The subject's rows; None where the table never has any."""
        found = Q(pk__in=[])
        if subject.kind == SubjectKind.ORGANIZATION:
            if self.organization is None:
                return None
            found = Q(**{self.organization: subject.id})
        else:
            if self.user is None and self.email is None:
                return None
            if self.user is not None:
                found |= Q(**{self.user: subject.id})
            if self.email is not None and subject.email:
                found |= Q(**{f"{self.email}__iexact": subject.email})
        return self.model._default_manager.filter(found)


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
        label="conversations.Attachment",
        user="user_id",
        organization="organization_id",
        stored=("file",),
        hidden=("file",),
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
        why="Accounting law: invoices are kept as they were issued, with the customer's address.",
    ),
    Table(
        label="billing.BillingAccount",
        organization="organization_id",
        on_organization=Fate.BLANKED,
        blank={"email": ""},
        why="Accounting law: name and address of who is invoiced.",
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
    Table(label="enterprise.AllowedNetwork", organization="organization_id"),
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
        why="What a member of staff has done; what it says of an erased subject is anonymised.",
    ),
    Table(
        label="audit_log.AuditEvent",
        user="actor_id",
        organization="organization_id",
        on_user=Fate.KEPT,
        on_organization=Fate.KEPT,
        why="Security: an append-only log without names, by which attacks are found.",
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
        why="The certificates themselves.",
    ),
    Table(
        label="accounts.User",
        user="pk",
        on_user=Fate.BLANKED,
        hidden=("password", "is_superuser", "is_staff"),
        why="An empty row stays: accounts of money and security point at its id.",
    ),
    Table(
        label="accounts.Organization",
        organization="pk",
        on_organization=Fate.BLANKED,
        blank={"name": "Erased organization"},
        why="An empty row stays: invoices and the ledger point at its id.",
    ),
    # --- no subject's
    _none("sessions.Session", "Ended through usersessions.UserSession."),
    _none("auth.Permission", _SETTINGS),
    _none("auth.Group", _SETTINGS),
    _none("contenttypes.ContentType", _SETTINGS),
    _none("accounts.Plan", _SETTINGS),
    _none("accounts.SignUpPolicy", _SETTINGS),
    _none("accounts.Announcement", _SETTINGS),
    _none("accounts.TermsVersion", _SETTINGS),
    _none("billing.AbusePolicy", _SETTINGS),
    _none("billing.PriceFactor", _SETTINGS),
    _none("billing.ModelCost", _SETTINGS),
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
