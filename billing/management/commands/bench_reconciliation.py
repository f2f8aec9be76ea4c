"""`manage.py bench_reconciliation`: billing.bench_reconciliation."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from billing import bench_reconciliation


class Command(BaseCommand):
    help = "Measure what a run of reconciliation costs with millions of records in two days."

    def add_arguments(self, parser: ArgumentParser) -> None:
        bench_reconciliation.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        bench_reconciliation.measure(options["records"])
