from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AccountsConfig(AppConfig):
    name = "backend.accounts"
    label = "accounts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from backend.accounts.defaults import defaults_ensure  # needs the models

        post_migrate.connect(defaults_ensure, dispatch_uid="accounts.defaults")
