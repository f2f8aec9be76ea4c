"""`manage.py partition_usage_events` and `manage.py partition_ledger`: one table, step by step."""

import time

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from backend.platform.database import connect_directly
from backend.platform.partitions import CannotPartition, Monthly, convert, is_partitioned


def partition(command: BaseCommand, monthly: Monthly) -> None:
    """Convert it, and print when each step began."""
    connect_directly()
    if is_partitioned(monthly.table):
        command.stdout.write(f"{monthly.table} is partitioned already.")
    begun = time.monotonic()

    def step(name: str) -> None:
        command.stdout.write(f"{time.monotonic() - begun:8.1f} s  {name}")
        command.stdout.flush()

    try:
        convert(monthly, now=timezone.now(), step=step)
    except CannotPartition as error:
        raise CommandError(f"{error}: nothing was changed.") from None
    step("done")
