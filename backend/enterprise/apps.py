from django.apps import AppConfig


class EnterpriseConfig(AppConfig):
    name = "backend.enterprise"
    label = "enterprise"
    default_auto_field = "django.db.models.BigAutoField"
