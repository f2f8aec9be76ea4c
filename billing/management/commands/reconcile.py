"""`manage.py reconcile --from DAY --to DAY [--repair]`: ledger, event store and rollups compared.

Exits with 1 when anything differs, after repairing too if it still does.
"""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from billing.management.spans import add_span_arguments, span_of
from billing.reconciliation.compare import HourComparison, Sums, differences
from billing.reconciliation.repair import repair_hour

_ROW = "{:<36}  {:<16}  {:>20}  {:>20}  {:>20}"


class Command(BaseCommand):
    help = "Compare ledger, event store and rollups; --repair makes them what the ledger says."
    # They import the whole API, a second of processor time: `migrate` has made them.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_span_arguments(parser)
        parser.add_argument("--repair", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        start, end = span_of(options)
        found = differences(start=start, end=end)
        self._print(found)
        if found and options["repair"]:
            for difference in found:
                repair_hour(difference)
            self.stdout.write(f"Repaired {len(found)} organization hours.")
            found = differences(start=start, end=end)
            if found:
                self._print(found)
        if found:
            sys.exit(1)

    def _print(self, found: list[HourComparison]) -> None:
        if not found:
            self.stdout.write("Ledger, event store and rollups agree.")
            return
        heading = ("organization", "hour (UTC)", "ledger", "event store", "rollups")
        self.stdout.write(_ROW.format(*heading) + "   (requests/in/out)")
        for difference in found:
            self.stdout.write(
                _ROW.format(
                    str(difference.organization_id),
                    f"{difference.hour:%Y-%m-%d %H:%M}",
                    *map(_short, (difference.ledger, difference.events, difference.rollups)),
                )
            )
        self.stdout.write(f"{len(found)} organization hours differ.")


def _short(sums: Sums) -> str:
    return f"{sums.requests}/{sums.tokens.input}/{sums.tokens.output}"
