"""`manage.py detect_abuse`: scores usage events for abuse, beside the aggregator."""

from argparse import ArgumentParser
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.management.base import BaseCommand

from billing import metrics
from billing.abuse.counting import delete_before
from billing.abuse.detector import detect
from billing.aggregator.ingest import KafkaRecord
from billing.aggregator.worker import Consumer
from billing.management.metrics_server import serve_metrics
from billing.models import AbuseFlag
from billing.service_loop import Stop

GROUP = "billing-abuse"
FORGET_EVERY_S = 3600.0


class Command(BaseCommand):
    help = "Score usage for abuse, flag and throttle. Any number may run at once."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--metrics-port", type=int, help="Serve Prometheus metrics there.")

    def handle(self, *args: Any, **options: Any) -> None:
        stop = Stop().listen()
        serve_metrics(options["metrics_port"], stop, _refresh)
        Consumer(group=GROUP, store=_detect).run(stop, every=(FORGET_EVERY_S, _forget))


def _detect(records: Sequence[KafkaRecord]) -> None:
    with metrics.DETECTOR_SECONDS.time():
        flagged = detect(records)
    metrics.DETECTOR_EVENTS.inc(len(records))
    metrics.FLAGGED.inc(flagged)


def _refresh() -> None:
    metrics.OPEN_FLAGS.set(AbuseFlag.objects.filter(state=AbuseFlag.State.OPEN).count())


def _forget() -> None:
    delete_before(datetime.now(UTC) - timedelta(days=2))
