"""`manage.py aggregate`: turns usage events into the event store and hourly rollups."""

from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand
from prometheus_client import start_http_server

from billing import metrics
from billing.aggregator.ingest import Message, ingest
from billing.aggregator.lag import aggregation_lag_s
from billing.aggregator.worker import Consumer
from billing.service_loop import Stop

GROUP = "billing-aggregator"
LAG_EVERY_S = 15.0


class Command(BaseCommand):
    help = "Aggregate usage events from Kafka. Any number may run at once."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--metrics-port", type=int, help="Serve Prometheus metrics there.")

    def handle(self, *args: Any, **options: Any) -> None:
        stop = Stop().listen()
        every = None
        if options["metrics_port"]:
            start_http_server(options["metrics_port"])
            every = (LAG_EVERY_S, _measure_lag)
        Consumer(group=GROUP, store=_store).run(stop, every=every)


def _store(messages: Sequence[Message]) -> None:
    with metrics.BATCH_SECONDS.time():
        outcome = ingest(messages)
    metrics.EVENTS.labels("new").inc(outcome.new)
    metrics.EVENTS.labels("repeated").inc(outcome.repeated)
    metrics.EVENTS.labels("rejected").inc(outcome.rejected)


def _measure_lag() -> None:
    metrics.AGGREGATION_LAG.set(aggregation_lag_s())
