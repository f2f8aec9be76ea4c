"""What a request adds to its own log lines."""

import hashlib

import structlog


def note_end_user(identifier: str | None) -> None:
    """Name the API client's own end user in this request's log lines.

    Hashed: OpenAI asks its clients for an opaque identifier, and many send an address. The
    same identifier always gives the same 16 digits, which is enough to trace abuse.
    """
    if identifier:
        digest = hashlib.sha256(identifier.encode()).hexdigest()[:16]
        structlog.contextvars.bind_contextvars(end_user=digest)
