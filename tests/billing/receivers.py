"""Customers' servers on loopback: one that answers as it should, others that do not."""

import json
import socket
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Receiver:
    """Remembers what it got and answers with `status`, after `delay_s`."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.status = 200
        self.delay_s = 0.0
        self.location = "http://127.0.0.1:1/"
        self.at_once = self.most_at_once = 0
        lock = threading.Lock()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                with lock:
                    receiver.at_once += 1
                    receiver.most_at_once = max(receiver.most_at_once, receiver.at_once)
                body = self.rfile.read(int(self.headers["Content-Length"]))
                time.sleep(receiver.delay_s)
                with lock:
                    receiver.requests.append((dict(self.headers), body))
                    receiver.at_once -= 1
                self.send_response(receiver.status)
                self.send_header("Location", receiver.location)
                self.end_headers()

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        scheme, host = ("http", "localhost") if tls is None else ("https", "127.0.0.1")
        self.url = f"{scheme}://{host}:{self._server.server_port}/hook?a=1"

    @property
    def event_ids(self) -> list[str]:
        return [json.loads(body)["id"] for _, body in self.requests]

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class DrippingReceiver:
    """Begins an answer and goes on with it a byte at a time, for as long as it is read."""

    BEGINNING = b"HTTP/1.1 200 OK\r\nX-Drip: "
    INTERVAL_S = 0.1

    def __init__(self) -> None:
        self.connections = 0
        self._stopped = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(0.1)
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/"

    def stop(self) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join()
        self._listener.close()

    def _accept(self) -> None:
        while not self._stopped.is_set():
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                continue
            self.connections += 1
            thread = threading.Thread(target=self._drip, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _drip(self, connection: socket.socket) -> None:
        with connection:
            try:
                connection.sendall(self.BEGINNING)
                while not self._stopped.wait(self.INTERVAL_S):
                    connection.sendall(b"x")
            except OSError:
                return
