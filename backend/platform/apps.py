from django.apps import AppConfig
from django.core.checks import Tags, register


class PlatformConfig(AppConfig):
    name = "backend.platform"
    label = "platform"

    def ready(self) -> None:
        from backend.platform.checks import needed_keys_are_known  # needs the models

        register(needed_keys_are_known, Tags.database)
