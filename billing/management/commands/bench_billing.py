"""`manage.py bench_billing`: billing.bench, for those who start services with `with-services`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from billing import bench


class Command(BaseCommand):
    help = "How many usage events a second one aggregator stores; same as python -m billing.bench."

    def add_arguments(self, parser: ArgumentParser) -> None:
        bench.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        bench.measure(
            count=options["events"],
            through_kafka=options["kafka"],
            exported=options["export"],
            month=options["month"],
        )
