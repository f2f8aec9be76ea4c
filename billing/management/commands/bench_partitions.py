"""`manage.py bench_partitions`: billing.bench_partitions."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from billing import bench_partitions


class Command(BaseCommand):
    help = "What it takes to partition an event store of millions of rows while it is used."

    def add_arguments(self, parser: ArgumentParser) -> None:
        bench_partitions.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        bench_partitions.measure(options["rows"])
