"""The network between two engines, in the hands of somebody else."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.inference.serving import wait_for

Change = Callable[[bool, bytes], bytes]
"""What becomes of bytes on their way; True: from who asks."""


class Wire:
    """Passes on what both sides say, and keeps it.

    Attributes:
        asked: what came from who asks, of all connections.
        answered: what came from the engine that computes prompts.
    """

    def __init__(self, to: int, change: Change) -> None:
        self._to = to
        self._change = change
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = [self._listener]
        self.asked = b""
        self.answered = b""
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return f"tcp://127.0.0.1:{self._listener.getsockname()[1]}"

    def close(self) -> None:
        for one in self._open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # it is closed
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._to))
                self._open += [near, far]
                for asks, source, sink in ((True, near, far), (False, far, near)):
                    threading.Thread(
                        target=self._pass_on, args=(asks, source, sink), daemon=True
                    ).start()

    def _pass_on(self, asks: bool, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if asks:
                    self.asked += data
                else:
                    self.answered += data
                sink.sendall(self._change(asks, data))
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)


@contextmanager
def wire(address: str, change: Change = lambda _, data: data) -> Iterator[Wire]:
    """In front of who listens at a TCP address, once they do."""
    port = int(address.rpartition(":")[2])
    wait_for(lambda: _listens(port), timeout_s=20)
    made = Wire(port, change)
    try:
        yield made
    finally:
        made.close()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
