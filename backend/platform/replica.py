"""Reports read from a replica of the database, where there is one that is not behind.

`DATABASE_REPLICA_URL` names it. A function that only reads is decorated with `from_replica`; what
it asks of the ORM, or of `read_connection`, goes there. It goes to the primary instead

- where the replica is down, or a query of it fails (the function is called once more);
- where it is behind: by more than `DATABASE_REPLICA_MAX_LAG_S`; or, with `fresh`, where it has not
  replayed, within a moment, all that was committed when the function was called, so that who wrote
  finds what they wrote, whichever process they wrote it in;
- inside a transaction, which may have written what nobody else sees yet.

Writing is never routed. Decision 0301.
"""

import functools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

import structlog
from django.conf import settings
from django.db import DatabaseError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model
from psycopg_pool import PoolTimeout

log = structlog.get_logger(__name__)

PRIMARY, REPLICA = "default", "replica"
CHECKED_FOR_S = 1.0
"""How long an answer to "how far is it behind" is believed, where not all has to be fresh."""
DOWN_FOR_S = 5.0
"""How long a replica that did not answer is not asked again."""
CATCH_UP_S = 0.2
_POLL_S = 0.02

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_reading: ContextVar[str] = ContextVar("database_to_read", default=PRIMARY)

# Of what is inserted, not of what is written: a commit need not have waited for its being written.
_END_OF_LOG = "SELECT pg_current_wal_insert_lsn()::text"
_HAS_REPLAYED = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn"
# What it replayed last was committed then: of everything before that it lacks nothing. One that is
# not in recovery is no replica, and would go its own way.
_STATE = """
SELECT pg_is_in_recovery(), pg_last_wal_replay_lsn() >= %s::pg_lsn,
    extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())
"""


@dataclass(slots=True)
class _Known:
    """What this process knows of the replica."""

    lag_s: float | None = None  # None: not usable
    until: float = 0.0
    behind_until: float = 0.0
    reason: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)


_known = _Known()


class Router:
    """Of Django's `DATABASE_ROUTERS`."""

    def db_for_read(self, model: type[Model], **hints: Any) -> str | None:
        return _reading.get()

    def db_for_write(self, model: type[Model], **hints: Any) -> str | None:
        return PRIMARY

    def allow_relation(self, first: Model, second: Model, **hints: Any) -> bool | None:
        return True  # the same rows, read from two places

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool | None:
        return db == PRIMARY


def read_connection() -> BaseDatabaseWrapper:
    """For SQL: the connection that the ORM would read from now."""
    return connections[_reading.get()]


def from_replica(
    *, fresh: bool
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Decorates a function that only reads, and returns what it has read whole: no generator, no
    queryset.

    Args:
        fresh: whether it must find everything that was committed before it was called.
    """

    def decorate(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        @functools.wraps(function)
        def read(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            if _reading.get() == REPLICA or database_to_read(fresh=fresh) == PRIMARY:
                return function(*args, **kwargs)
            try:
                with _read_from(REPLICA):
                    return function(*args, **kwargs)
            except (DatabaseError, PoolTimeout) as error:
                _found(None, repr(error), DOWN_FOR_S)
                connections[REPLICA].close()
            return function(*args, **kwargs)

        return read

    return decorate


@contextmanager
def from_primary() -> Iterator[None]:
    """For what is kept beyond the call that reads it, inside a function of `from_replica`."""
    with _read_from(PRIMARY):
        yield


def database_to_read(*, fresh: bool) -> str:
    """Django's name of the database that a reader should ask now."""
    if REPLICA not in connections.settings or connections[PRIMARY].in_atomic_block:
        return PRIMARY
    try:
        usable = _catches_up() if fresh else _lag_s() <= settings.DATABASE_REPLICA_MAX_LAG_S
    except (DatabaseError, PoolTimeout) as error:
        _found(None, repr(error), DOWN_FOR_S)
        connections[REPLICA].close()
        return PRIMARY
    return REPLICA if usable else PRIMARY


@contextmanager
def _read_from(alias: str) -> Iterator[None]:
    token = _reading.set(alias)
    try:
        yield
    finally:
        _reading.reset(token)


def _lag_s() -> float:
    """How far behind the replica is; infinite where it cannot be used. Asked once a second."""
    with _known.lock:
        if time.monotonic() < _known.until:
            return float("inf") if _known.lag_s is None else _known.lag_s
    end = _ask(PRIMARY, _END_OF_LOG)[0]
    in_recovery, has_all, behind = _ask(REPLICA, _STATE, end)
    if not in_recovery:
        _found(None, "it is not a replica", DOWN_FOR_S)
        return float("inf")
    lag = 0.0 if has_all else float("inf") if behind is None else float(behind)
    _found(lag, "", CHECKED_FOR_S)
    return lag


def _catches_up() -> bool:
    """Whether it has, or soon has, replayed what is committed now."""
    with _known.lock:
        now = time.monotonic()
        if now < _known.behind_until or (now < _known.until and _known.lag_s is None):
            return False  # readers do not wait one after the other
    end = _ask(PRIMARY, _END_OF_LOG)[0]
    deadline = time.monotonic() + CATCH_UP_S
    while not _ask(REPLICA, _HAS_REPLAYED, end)[0]:
        if time.monotonic() > deadline:
            with _known.lock:
                _known.behind_until = time.monotonic() + CHECKED_FOR_S
            return False
        time.sleep(_POLL_S)
    return True


def _found(lag_s: float | None, reason: str, for_s: float) -> None:
    with _known.lock:
        was = _known.reason
        _known.lag_s, _known.reason = lag_s, reason
        _known.until = time.monotonic() + for_s
    if reason and not was:
        log.warning("replica_unusable", reason=reason)
    elif was and not reason:
        log.info("replica_usable")


def _ask(alias: str, question: str, *values: str) -> tuple[Any, ...]:
    with connections[alias].cursor() as cursor:
        cursor.execute(question, values)
        answer: tuple[Any, ...] = cursor.fetchone()
    return answer
