"""Tasks that beat runs: never more of one at a time than it says, in all processes together.

A run holds a lock of PostgreSQL, in a transaction of a connection of its own: so it ends with the
process that holds it, and needs neither a lifetime nor renewals. Where the connection breaks
another run may begin, so what a task writes is fenced by itself, as ever.
"""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import structlog
from celery import Task, shared_task

from backend.platform.database import session_connect

log = structlog.get_logger(__name__)


class PeriodicTask(Task):
    """Attributes:
    at_once: how many may run in all processes together.
    """

    at_once = 1


def periodic_task(*, at_once: int = 1) -> Callable[[Callable[..., Any]], Any]:
    """A Celery task of which at most `at_once` run; a further one does nothing and returns None."""

    def decorate(function: Callable[..., Any]) -> Any:
        name = f"{function.__module__}.{function.__name__}"

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with _place(name, at_once) as has_place:
                if not has_place:
                    log.info("task_runs_already", task=name)
                    return None
                return function(*args, **kwargs)

        return shared_task(name=name, base=PeriodicTask, at_once=at_once)(run)

    return decorate


@contextmanager
def _place(name: str, at_once: int) -> Iterator[bool]:
    """One of the places of a task, if one is free."""
    with session_connect() as session, session.transaction():
        yield any(
            session.execute(
                "SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))",
                [f"task.{name}.{place}"],
            ).fetchone()
            == (True,)
            for place in range(at_once)
        )
