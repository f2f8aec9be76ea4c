"""Connections of the pool to PostgreSQL, which are checked without a round trip.

The pool checks a connection before it is used, so that one that a restarted server has ended is
replaced and not given to a request. A server that ends a connection makes its socket readable, and
an idle one has nothing to say: where nothing is to be read, nothing needs to be asked.
"""

import select
from typing import Any

import psycopg
from psycopg.rows import TupleRow

_CHECK = ""
"""What `psycopg_pool.ConnectionPool.check_connection` executes."""


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
