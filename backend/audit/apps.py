from django.apps import AppConfig


class AuditLogConfig(AppConfig):
    name = "backend.audit"
    label = "audit_log"  # `audit` is that of safety's decisions
    verbose_name = "Audit log"
    default_auto_field = "django.db.models.BigAutoField"
