"""Connections of the pool to PostgreSQL, which are checked without a round trip.

The pool checks a connection before it is used, so that one that a restarted server has ended is
replaced and not given to a request. A server that ends a connection makes its socket readable, and
an idle one has nothing to say: where nothing is to be read, nothing needs to be asked.

A pool that has given up connecting tries again as long as somebody waits.
"""

import select
from typing import Any

import psycopg
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool

_CHECK = ""
"""What `psycopg_pool.ConnectionPool.check_connection` executes."""
_ASKING_S = 0.01


class PooledConnection(psycopg.Connection[TupleRow]):
    """A connection whose check costs a system call."""

    def execute(self, query: Any, *args: Any, **options: Any) -> Any:
        if query == _CHECK and not self.closed and not self._has_news():
            return self.cursor()
        return super().execute(query, *args, **options)

    def _has_news(self) -> bool:
        """Whether there is anything to read: an error, a notice, the end."""
        poll = select.poll()
        poll.register(self.pgconn.socket, select.POLLIN | select.POLLPRI)
        return bool(poll.poll(0))


def connect_for_waiting(pool: ConnectionPool[Any]) -> None:
    """The pool's `reconnect_failed`: go on connecting where somebody waits.

    By itself a pool that has given up connects again for the next who asks. With all threads
    waiting there is no next one until the first has waited in vain, and a server that is back
    meanwhile is not used.
    """
    if not pool.get_stats().get("requests_waiting"):
        return
    try:
        connection = pool.getconn(timeout=_ASKING_S)  # to ask is what makes it connect
    except psycopg.OperationalError:
        return  # not yet, or it was closed
    pool.putconn(connection)
