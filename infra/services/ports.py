"""TCP ports on the loopback."""

import socket

LOOPBACK = "127.0.0.1"


def free_port() -> int:
    """A port that nothing listens on now.

    Somebody else may take it before the caller binds it; launchers that chose their port
    themselves therefore try again with another one.
    """
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def port_is_free(port: int, host: str = LOOPBACK) -> bool:
    """Whether a server could listen on `port` now."""
    with socket.socket() as probe:
        # As servers do: a port whose last connections linger in TIME_WAIT is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True


def accepts_connections(port: int, host: str = LOOPBACK, timeout: float = 0.5) -> bool:
    """Whether something listens on `port`."""
    try:
        with socket.create_connection((host, port), timeout=timeout):
            return True
    except OSError:
        return False
