from django.apps import AppConfig


class AuditConfig(AppConfig):
    name = "safety.audit"
    label = "audit"
    verbose_name = "Safety"
    default_auto_field = "django.db.models.BigAutoField"
