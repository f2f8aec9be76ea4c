"""`manage.py relay`: publishes the outbox to Kafka until it is stopped."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from billing import metrics
from billing.management.metrics_server import serve_metrics
from billing.relay import outbox
from billing.relay.worker import Relay
from billing.service_loop import Stop


class Command(BaseCommand):
    help = "Publish outbox rows to Kafka. Any number may run at once."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--metrics-port", type=int, help="Serve Prometheus metrics there.")

    def handle(self, *args: Any, **options: Any) -> None:
        stop = Stop().listen()
        serve_metrics(options["metrics_port"], stop, _refresh)
        Relay().run(stop)


def _refresh() -> None:
    count, age = outbox.waiting()
    metrics.OUTBOX_WAITING.set(count)
    metrics.OUTBOX_AGE.set(age)
