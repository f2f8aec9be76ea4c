from django.apps import AppConfig


class GatewayConfig(AppConfig):
    name = "backend.gateway"
    label = "gateway"
    default_auto_field = "django.db.models.BigAutoField"
