"""A stable name for each member of a consumer group (static membership, KIP-345).

A member that returns under its name gets its partitions back at once; a nameless one is new to
the group, which stands still until it has given up on the member that died. Names are
numbered, and the number is held by a lock in PostgreSQL that ends with its holder: so they are
unique across machines, reused after a crash, and they need no configuration.
"""

from backend.platform.database import session_connect

# Any constant, as long as nothing else in the database takes locks of this class.
_LOCK_CLASS = 0x0A66
MAX_MEMBERS = 64


class MemberName:
    """The lowest free number of a group, held until `release` or the end of the process."""

    def __init__(self, group: str) -> None:
        """Raises psycopg.Error when PostgreSQL is away, RuntimeError when all are taken."""
        self._connection = session_connect()
        for number in range(1, MAX_MEMBERS + 1):
            row = self._connection.execute(
                "SELECT pg_try_advisory_lock(%s, hashtext(%s) # %s)", [_LOCK_CLASS, group, number]
            ).fetchone()
            if row is not None and row[0]:
                self.name = f"{group}-{number}"
                return
        self._connection.close()
        raise RuntimeError(f"{MAX_MEMBERS} members of {group} run already")

    def release(self) -> None:
        self._connection.close()
