"""`manage.py rebuild_rollups --from DAY --to DAY`: the derived numbers anew, from the ledger."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from billing.management.spans import add_span_arguments, span_of
from billing.reconciliation.repair import rebuild_rollups


class Command(BaseCommand):
    help = "Recompute hourly rollups, and the event store with them, from the ledger."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_span_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        start, end = span_of(options)
        days = rebuild_rollups(start=start, end=end)
        self.stdout.write(f"Rebuilt {days} organization days.")
