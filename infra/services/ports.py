"""TCP ports on the loopback."""

import random
import socket
from contextlib import suppress

LOOPBACK = "127.0.0.1"
# Systems give outgoing connections their ports from 32768 (Linux) or 49152 (RFC 6335) on.
_SERVER_PORTS = range(15_000, 30_000)


def free_port() -> int:
    """A port that nothing listens on now, and that no outgoing connection is ever given.

    Such a connection could have the port of a server that is starting or coming back; a client
    that dials a dead server can even be given that server's own, and reach itself. Another
    server may still take the port before the caller binds it; launchers that chose their port
    themselves therefore try again with another one.
    """
    while not port_is_free(port := random.choice(_SERVER_PORTS)):  # noqa: S311 no secret
        pass
    return port


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


def hold_port(port: int) -> socket.socket:
    """Keep other servers from `port` until the socket is closed. Nothing listens on it."""
    holder = socket.socket()  # without SO_REUSEADDR, which would let others bind it as well
    holder.bind((LOOPBACK, port))
    return holder


def hold_free_port() -> socket.socket:
    """Keep other servers from a port of our choice: nothing of its last connections lingers on it,
    as it may on one that `free_port` says."""
    while True:
        with suppress(OSError):
            return hold_port(free_port())


def accepts_connections(port: int, host: str = LOOPBACK, timeout: float = 0.5) -> bool:
    """Whether something listens on `port`."""
    try:
        with socket.create_connection((host, port), timeout=timeout):
            return True
    except OSError:
        return False
