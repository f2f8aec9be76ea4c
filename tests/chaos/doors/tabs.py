"""An open tab: the page's WebSocket, which it opens again whenever it has been lost."""

import json
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect
from websockets.typing import Origin

from tests.api.users import Person

_DEADLINE_S = 120.0


class Tab:
    """Listens from `__enter__` to `__exit__`.

    Attributes:
        connections: how often it was opened.
    """

    def __init__(self, person: Person) -> None:
        self._url = str(person.browser.base_url).rstrip("/")
        cookies = dict(person.browser.cookies).items()
        self._cookies = "; ".join(f"{name}={value}" for name, value in cookies)
        self._heard: set[str] = set()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.connections = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def hears_of(self, change: Callable[[], str]) -> None:
        """Of a conversation that `change` makes; of one made again, where the socket was lost just
        then: the page looks for itself after each connection."""
        deadline = time.monotonic() + _DEADLINE_S
        while time.monotonic() < deadline:
            conversation = change()
            until = time.monotonic() + 5
            while time.monotonic() < until:
                if conversation in self._heard:
                    return
                time.sleep(0.05)
        raise AssertionError(f"the tab heard of nothing; it was opened {self.connections} times")

    def _run(self) -> None:
        while not self._over.is_set():
            try:
                with connect(
                    f"ws://{urlsplit(self._url).netloc}/ws/events",
                    additional_headers={"Cookie": self._cookies},
                    origin=Origin(self._url),
                    open_timeout=10,
                ) as socket:
                    self.connections += 1
                    while not self._over.is_set():
                        try:
                            said = json.loads(socket.recv(timeout=0.5))
                        except TimeoutError:
                            continue
                        self._heard.add(said.get("conversation_id", ""))
            except (OSError, WebSocketException):
                self._over.wait(0.3)
