"""The one bridge from the event loop to the database: a few threads of our own, one hop a call.

Not asgiref's `sync_to_async`: outside a request its executor is one thread, which a thousand
ending generations would queue for, and it swallows a cancellation that comes while the thread
works, so that a loop which is told to end goes on. Here the caller is cancelled at once; the
thread finishes what it began. A connection goes back to the pool after each call, so that none
is held while an answer is awaited (docs/decisions/0031).
"""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
from typing import Any, ParamSpec, TypeVar

import dj_database_url
import psycopg
from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import close_old_connections, connection, connections
from psycopg.rows import TupleRow

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# Connections left to what Django itself reads in a request: sessions, users, the admin.
_RESERVED_CONNECTIONS = 2
# Sums over much usage wait for each other, and hold up neither admissions nor ends.
_REPORT_THREADS = 2


async def in_database(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Run `function`, a service or selector, in a thread with a database connection."""
    return await _in_thread_of(_executor(), function, *args, **kwargs)


async def in_reports(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """The same for what may take long: it waits for others of its kind, and nothing else for it."""
    return await _in_thread_of(_reports(), function, *args, **kwargs)


async def _in_thread_of(
    executor: ThreadPoolExecutor,
    function: Callable[Arguments, Result],
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> Result:
    def run() -> Result:
        try:
            return function(*args, **kwargs)
        finally:
            give_back_connections()

    loop, context = asyncio.get_running_loop(), contextvars.copy_context()
    answer: asyncio.Future[Result] = loop.create_future()

    def work() -> None:
        """As `run_in_executor`, without its second future and the copying between both."""
        if answer.cancelled():
            return  # its caller left before it began
        try:
            tell = partial(_tell, answer, context.run(run), None)
        except BaseException as error:
            tell = partial(_tell, answer, None, error)
        with suppress(RuntimeError):  # the loop has ended, and nobody waits
            loop.call_soon_threadsafe(tell)

    executor.submit(work)
    return await answer


def _tell(answer: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if answer.done():
        return  # its caller has left
    if error is None:
        answer.set_result(result)
    else:
        answer.set_exception(error)


def give_back_connections() -> None:
    """Give this thread's connections back to their pools, unless in a transaction."""
    for wrapper in connections.all(initialized_only=True):
        if wrapper.connection is not None:
            wrapper.close_if_unusable_or_obsolete()


async def release_connection() -> None:
    """Give back the connection that Django's own async calls (session, user) opened for this
    request. To be awaited before waiting for a generation."""
    await sync_to_async(close_old_connections)()


@cache
def _executor() -> ThreadPoolExecutor:
    options: Any = settings.DATABASES["default"]["OPTIONS"]
    taken = _RESERVED_CONNECTIONS + _REPORT_THREADS
    threads = max(2, int(options["pool"]["max_size"]) - taken)
    return ThreadPoolExecutor(threads, thread_name_prefix="database")


@cache
def _reports() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_REPORT_THREADS, thread_name_prefix="reports")


def transaction_lock(name: str) -> None:
    """Hold a name alone until the transaction ends; waits for who has it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])


def session_connect() -> psycopg.Connection[TupleRow]:
    """A connection of the caller's own, in autocommit, whose session lasts until it is closed.

    For locks of a session: never through a pooler, and never one of Django's, which outlive what
    they were borrowed for. Raises psycopg.Error when PostgreSQL is away.
    """
    if settings.DATABASE_DIRECT_URL:
        return psycopg.connect(settings.DATABASE_DIRECT_URL, autocommit=True)
    parameters = dict(connection.get_connection_params())
    for option in ("pool", "cursor_factory", "context"):
        parameters.pop(option, None)
    return psycopg.connect(**parameters, autocommit=True)


def connect_directly() -> None:
    """Have this process use the server itself from now on: for what changes the schema, which
    waits for locks and builds indexes for longer than a pooler lends a connection."""
    if not settings.DATABASE_DIRECT_URL:
        return
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]  # of the PostgreSQL backend
    direct = dj_database_url.parse(settings.DATABASE_DIRECT_URL)
    ours = connection.settings_dict
    ours.update({name: direct[name] for name in ("NAME", "USER", "PASSWORD", "HOST", "PORT")})
    ours["OPTIONS"] = {**ours["OPTIONS"], **direct.get("OPTIONS", {})}
    ours["DISABLE_SERVER_SIDE_CURSORS"] = False
