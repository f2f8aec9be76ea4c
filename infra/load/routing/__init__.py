"""Routing policies on one trace of conversations: `python -m infra.load.routing`."""
