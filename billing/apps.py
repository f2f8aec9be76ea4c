"""The Django app `billing`."""

from django.apps import AppConfig


class BillingConfig(AppConfig):
    name = "billing"
    label = "billing"
    default_auto_field = "django.db.models.BigAutoField"
