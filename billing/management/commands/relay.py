"""`manage.py relay`: publishes the outbox to Kafka until it is told to stop."""

import threading
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.db import Error as DatabaseError
from django.db import connection
from prometheus_client import start_http_server

from billing import metrics
from billing.relay import outbox
from billing.relay.worker import Relay
from billing.service_loop import Stop

REFRESH_S = 5.0


class Command(BaseCommand):
    help = "Publish outbox rows to Kafka. Any number may run at once."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--metrics-port", type=int, help="Serve Prometheus metrics there.")

    def handle(self, *args: Any, **options: Any) -> None:
        stop = Stop().listen()
        if options["metrics_port"]:
            start_http_server(options["metrics_port"])
            threading.Thread(target=_refresh_metrics, args=[stop], daemon=True).start()
        Relay().run(stop)


def _refresh_metrics(stop: Stop) -> None:
    """In a thread: a relay that waits for Kafka must still tell how much waits for it."""
    while not stop:
        try:
            count, age = outbox.waiting()
            metrics.OUTBOX_WAITING.set(count)
            metrics.OUTBOX_AGE.set(age)
        except DatabaseError:
            connection.close()
        time.sleep(REFRESH_S)
