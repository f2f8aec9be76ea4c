"""Django's `migrate`, on the server itself where DATABASE_URL is a pooler, in half the time."""

from typing import Any

from django.core.management.commands.migrate import Command as Migrate

from backend.platform.database import connect_directly
from backend.platform.rendered_alone import rendered_alone


class Command(Migrate):
    def execute(self, *args: Any, **options: Any) -> Any:
        connect_directly()  # before the checks, which read the database
        with rendered_alone():
            return super().execute(*args, **options)
