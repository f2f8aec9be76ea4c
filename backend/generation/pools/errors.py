"""Failures of an upstream, one class for each way to handle them."""

from backend.platform.errors import ParleyError


class ReplicaUnavailable(Exception):
    """This replica cannot serve the request now; another one, or a later try, may.

    Args:
        busy: it answered, and said that it is full: its health is not in doubt.
    """

    def __init__(self, message: str, *, busy: bool = False) -> None:
        super().__init__(message)
        self.busy = busy


class RequestRefused(Exception):
    """The upstream found the request itself wrong: no replica will take it.

    Attributes:
        error: what the client gets.
    """

    def __init__(self, error: ParleyError) -> None:
        super().__init__(error.message)
        self.error = error
