"""Bounds how long a migration waits for a lock on a table.

Whoever waits for an exclusive lock holds up all who come after: with a long transaction in front,
every request would stand. A migration gives up instead and is run again. What builds an index
concurrently holds nobody up, and may wait for as long as transactions run.
"""

from collections.abc import Callable
from typing import Any

Execute = Callable[[Any, Any, bool, dict[str, Any]], Any]

LOCK_TIMEOUT = "10s"


def bound_lock_waits(
    execute: Execute, sql: Any, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    """Wrap a statement of a migration, for `connection.execute_wrapper`.

    Raises OperationalError where a lock was not to be had within `LOCK_TIMEOUT`.
    """
    timeout = "0" if "CONCURRENTLY" in str(sql) else LOCK_TIMEOUT
    execute(f"SET lock_timeout = '{timeout}'", None, False, context)
    return execute(sql, params, many, context)
