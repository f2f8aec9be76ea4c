"""`manage.py bench_ledger_partitions`: billing.bench_ledger."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from billing import bench_ledger


class Command(BaseCommand):
    help = "What it takes to partition a ledger of millions of records while it is written."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--rows", type=int, default=5_000_000)

    def handle(self, *args: Any, **options: Any) -> None:
        bench_ledger.measure(options["rows"])
