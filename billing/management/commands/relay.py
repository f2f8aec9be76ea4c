"""`manage.py relay`: publishes the outbox to Kafka until it is stopped."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from billing.management import pipeline_metrics
from billing.management.metrics_server import serve_metrics
from billing.relay.worker import Relay
from billing.service_loop import Stop


class Command(BaseCommand):
    help = "Publish outbox rows to Kafka. Any number may run at once."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--metrics-port", type=int, help="Serve Prometheus metrics there.")

    def handle(self, *args: Any, **options: Any) -> None:
        stop = Stop().listen()
        serve_metrics(options["metrics_port"], stop, pipeline_metrics.refresh)
        Relay().run(stop)
