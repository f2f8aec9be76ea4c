"""A test case of Django's refuses each database that it was not told of, and empties those that it
was: a replica can be neither. Its connections are made without asking the test case.
"""

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    def ensure_connection(self) -> None:
        if self.connection is None:
            with self.wrap_database_errors:
                self.connect()
