"""`manage.py aggregate`: turns usage events into the event store and hourly rollups."""

from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand

from billing import metrics
from billing.aggregator.ingest import KafkaRecord, ingest
from billing.aggregator.worker import Consumer
from billing.management import pipeline_metrics
from billing.management.metrics_server import serve_metrics
from billing.service_loop import Stop

GROUP = "billing-aggregator"


class Command(BaseCommand):
    help = "Aggregate usage events from Kafka. Any number may run at once."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--metrics-port", type=int, help="Serve Prometheus metrics there.")

    def handle(self, *args: Any, **options: Any) -> None:
        stop = Stop().listen()
        serve_metrics(options["metrics_port"], stop, pipeline_metrics.refresh)
        Consumer(group=GROUP, store=_store).run(stop)


def _store(records: Sequence[KafkaRecord]) -> None:
    with metrics.BATCH_SECONDS.time():
        outcome = ingest(records)
    metrics.EVENTS.labels("new").inc(outcome.new)
    metrics.EVENTS.labels("repeated").inc(outcome.repeated)
    metrics.EVENTS.labels("rejected").inc(outcome.rejected)
