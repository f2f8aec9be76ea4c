"""`manage.py bench_message_partitions`: backend.conversations.bench_partitions."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from backend.conversations import bench_partitions


class Command(BaseCommand):
    help = "Whether messages in partitions of months are read, written and deleted faster."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--rows", type=int, default=2_000_000)

    def handle(self, *args: Any, **options: Any) -> None:
        bench_partitions.measure(options["rows"])
