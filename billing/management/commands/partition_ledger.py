"""Partition the ledger by month while it is used; goes on where an earlier try stopped."""

from typing import Any

from django.core.management.base import BaseCommand

from billing.management.conversion import partition
from billing.partitions import LEDGER


class Command(BaseCommand):
    help = "Partition the ledger by month, online. Safe to repeat, and to interrupt."

    def handle(self, *args: Any, **options: Any) -> None:
        partition(self, LEDGER)
