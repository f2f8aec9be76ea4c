"""allauth as this product uses it: its tables and its second factors, not its views.

Its apps are installed by configurations of our own, because its middleware and its signal
receivers belong to its views, and would run on the stream's path.
"""

from django.apps import AppConfig


class AccountConfig(AppConfig):
    name = "allauth.account"
    verbose_name = "Addresses"
    default_auto_field = "django.db.models.AutoField"


class UserSessionsConfig(AppConfig):
    name = "allauth.usersessions"
    verbose_name = "Sessions"
    default_auto_field = "django.db.models.BigAutoField"
