"""Django's PostgreSQL backend, for a database that no test case has to name."""
