"""The audit log: who did what in an organization, from where. Append-only.

actions.py names what is recorded, services.py has `record`, the only writer, selectors.py the
reads; context.py says where the running request comes from. Below `accounts`, so that every app
can call it: actors and organizations are ids here, and an entry outlives what it names.
"""
