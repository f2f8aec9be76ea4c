"""Prometheus metrics of a long-running command, on a port of its own."""

import threading
import time
from collections.abc import Callable

import structlog
from django.db import Error as DatabaseError
from django.db import connection
from prometheus_client import start_http_server

from billing.service_loop import Stop

log = structlog.get_logger(__name__)

REFRESH_S = 10.0


def serve_metrics(port: int | None, stop: Stop, refresh: Callable[[], None]) -> None:
    """Serve them, and call `refresh` every few seconds for what is read from the database.

    In a thread: a command that waits for Kafka must still tell how much waits for it. Nothing
    where there is no port.
    """
    if not port:
        return
    start_http_server(port)
    threading.Thread(target=_keep_fresh, args=[stop, refresh], daemon=True).start()


def _keep_fresh(stop: Stop, refresh: Callable[[], None]) -> None:
    while not stop:
        try:
            refresh()
        except DatabaseError as error:
            log.info("metrics_not_refreshed", reason=repr(error))
            connection.close()
        time.sleep(REFRESH_S)
