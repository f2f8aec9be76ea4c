"""`manage.py detect_abuse`: scores usage events for abuse, beside the aggregator."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.management.base import BaseCommand

from billing.abuse.counting import forget_before
from billing.abuse.detector import detect
from billing.aggregator.worker import Consumer
from billing.service_loop import Stop

GROUP = "billing-abuse"
FORGET_EVERY_S = 3600.0


class Command(BaseCommand):
    help = "Score usage for abuse, flag and throttle. Any number may run at once."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        stop = Stop().listen()
        Consumer(group=GROUP, store=detect).run(stop, every=(FORGET_EVERY_S, _forget))


def _forget() -> None:
    forget_before(datetime.now(UTC) - timedelta(days=2))
