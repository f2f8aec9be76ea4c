"""Django's `migrate`, on the server itself where DATABASE_URL is a pooler, in half the time.

No statement waits longer than `LOCK_TIMEOUT` for a lock.
"""

from typing import Any

from django.core.management.commands.migrate import Command as Migrate
from django.db import connection

from backend.platform.database import connect_directly
from backend.platform.lock_waits import bound_lock_waits
from backend.platform.rendered_alone import rendered_alone


class Command(Migrate):
    def execute(self, *args: Any, **options: Any) -> Any:
        connect_directly()  # before the checks, which read the database
        with rendered_alone(), connection.execute_wrapper(bound_lock_waits):
            return super().execute(*args, **options)
