"""What the audit log records: OpenAI's event types where it has them, and ours in the same form.

Source: OpenAI API reference, "Audit logs".
"""

from enum import StrEnum


class Action(StrEnum):
    LOGIN_SUCCEEDED = "login.succeeded"
    LOGIN_FAILED = "login.failed"
    LOGOUT_SUCCEEDED = "logout.succeeded"
    SESSION_ENDED = "session.ended"
    PASSWORD_CHANGED = "password.changed"  # noqa: S105
    PASSWORD_RESET = "password.reset"  # noqa: S105
    EMAIL_CHANGED = "email.changed"
    FACTOR_ADDED = "second_factor.added"
    FACTOR_REMOVED = "second_factor.removed"
    FACTORS_RESET = "second_factor.reset"
    RECOVERY_CODES_RENEWED = "recovery_codes.renewed"
    RECOVERY_CODE_USED = "recovery_code.used"

    USER_ADDED = "user.added"
    USER_UPDATED = "user.updated"
    USER_DELETED = "user.deleted"
    USER_SUSPENDED = "user.suspended"
    USER_REINSTATED = "user.reinstated"
    INVITE_SENT = "invite.sent"
    INVITE_ACCEPTED = "invite.accepted"
    INVITE_DELETED = "invite.deleted"

    ORGANIZATION_CREATED = "organization.created"
    ORGANIZATION_UPDATED = "organization.updated"
    ORGANIZATION_SUSPENDED = "organization.suspended"
    ORGANIZATION_REINSTATED = "organization.reinstated"
    ORGANIZATION_DELETED = "organization.deleted"
    OWNERSHIP_TRANSFERRED = "ownership.transferred"
    PROJECT_CREATED = "project.created"
    PROJECT_UPDATED = "project.updated"
    PROJECT_ARCHIVED = "project.archived"
    PROJECT_USER_ADDED = "project.user.added"
    PROJECT_USER_UPDATED = "project.user.updated"
    PROJECT_USER_REMOVED = "project.user.removed"
    SERVICE_ACCOUNT_CREATED = "service_account.created"
    SERVICE_ACCOUNT_UPDATED = "service_account.updated"
    SERVICE_ACCOUNT_DELETED = "service_account.deleted"
    RATE_LIMIT_UPDATED = "rate_limit.updated"
    RATE_LIMIT_DELETED = "rate_limit.deleted"

    KEY_CREATED = "api_key.created"
    KEY_UPDATED = "api_key.updated"
    KEY_DELETED = "api_key.deleted"

    POLICY_UPDATED = "policy.updated"
    SHARE_CREATED = "share.created"
    SHARE_REVOKED = "share.revoked"
    CONTENT_ACCESSED = "content.accessed"
    EXPORT_REQUESTED = "export.requested"
    EXPORT_DOWNLOADED = "export.downloaded"
    ERASURE_REQUESTED = "erasure.requested"
    ERASURE_COMPLETED = "erasure.completed"
    LEGAL_HOLD_SET = "legal_hold.set"
    LEGAL_HOLD_RELEASED = "legal_hold.released"
    RETENTION_UPDATED = "retention.updated"
    AUDIT_LOG_EXPORTED = "audit_log.exported"

    BUDGET_SET = "budget.set"
    BUDGET_DELETED = "budget.deleted"
    WEBHOOK_CREATED = "webhook.created"
    WEBHOOK_UPDATED = "webhook.updated"
    WEBHOOK_DELETED = "webhook.deleted"
    PAYMENT_METHOD_UPDATED = "payment_method.updated"
    PLAN_UPDATED = "plan.updated"

    SSO_CREATED = "sso.created"
    SSO_UPDATED = "sso.updated"
    SSO_DELETED = "sso.deleted"
    DOMAIN_ADDED = "domain.added"
    DOMAIN_VERIFIED = "domain.verified"
    DOMAIN_DELETED = "domain.deleted"
    SCIM_ENABLED = "scim.enabled"
    SCIM_DISABLED = "scim.disabled"
    IP_ALLOWLIST_UPDATED = "ip_allowlist.updated"
