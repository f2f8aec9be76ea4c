"""HTTP/1.1 on the web process's connections (`uvicorn --http`).

A client may offer another protocol with any request, as JDK's does with HTTP/2, and a server that
ignores the offer answers the request as it stands (RFC 9110, section 7.8). httptools ends a request
that holds an offer after its header, so that its body would be read as the connection's next
request. Here such a header is read again without the offer. A WebSocket's handshake alone is left
to uvicorn.
"""

from __future__ import annotations

from array import array
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_BODY_HEADERS = (b"content-length", b"transfer-encoding")


class HttpProtocol(HttpToolsProtocol):
    """uvicorn's protocol, without offers to upgrade but those of a WebSocket."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.parser = _Parser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn's own

    def on_headers_complete(self) -> None:
        if not self.ignores_offer():
            super().on_headers_complete()

    def on_message_complete(self) -> None:
        if not self.ignores_offer():
            super().on_message_complete()

    def ignores_offer(self) -> bool:
        """True while the request that is read offers a protocol that we do not speak."""
        return self.parser.should_upgrade() and not self._is_handshake()

    def head_without_offer(self) -> bytes:
        """The header of the request that is being read, without `Upgrade`."""
        version = self.parser.get_http_version().encode()
        lines = [b"%s %s HTTP/%s" % (self.parser.get_method(), self.url, version)]
        lines += [b"%s: %s" % (name, value) for name, value in self.headers if name != b"upgrade"]
        return b"\r\n".join([*lines, b"", b""])

    def _is_handshake(self) -> bool:
        """RFC 6455, section 4.1: a GET, which has no body."""
        names = [name for name, _ in self.headers]
        return (
            self.parser.get_method() == b"GET"
            and names.count(b"connection") == names.count(b"upgrade") == 1
            and dict(self.headers)[b"upgrade"].lower() == b"websocket"
            and not any(name in names for name in _BODY_HEADERS)
        )


class _Parser(httptools.HttpRequestParser):
    def __init__(self, protocol: HttpProtocol) -> None:
        super().__init__(protocol)
        self._protocol = protocol

    def feed_data(self, data: bytes | bytearray | memoryview[int] | array[int]) -> None:
        while True:
            try:
                super().feed_data(data)
            except httptools.HttpParserUpgrade as offer:
                if not self._protocol.ignores_offer():
                    raise
                if self.get_method() == b"CONNECT":  # an offer by its method
                    raise httptools.HttpParserError("a tunnel was asked for") from offer
                data = self._protocol.head_without_offer() + bytes(data)[offer.args[0] :]
            else:
                return
