"""Django's `migrate`, on the server itself where DATABASE_URL is a pooler."""

from typing import Any

from django.core.management.commands.migrate import Command as Migrate

from backend.platform.database import connect_directly


class Command(Migrate):
    def execute(self, *args: Any, **options: Any) -> Any:
        connect_directly()  # before the checks, which read the database
        return super().execute(*args, **options)
