"""Partition the event store by month while it is used; goes on where an earlier try stopped."""

import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from backend.platform.database import connect_directly
from backend.platform.partitions import CannotPartition, convert, is_partitioned
from billing.partitions import EVENTS


class Command(BaseCommand):
    help = "Partition the event store by month, online. Safe to repeat, and to interrupt."

    def handle(self, *args: Any, **options: Any) -> None:
        connect_directly()
        if is_partitioned(EVENTS.table):
            self.stdout.write(f"{EVENTS.table} is partitioned already.")
        begun = time.monotonic()

        def step(name: str) -> None:
            self.stdout.write(f"{time.monotonic() - begun:8.1f} s  {name}")
            self.stdout.flush()

        try:
            convert(EVENTS, now=timezone.now(), step=step)
        except CannotPartition as error:
            raise CommandError(f"{error}: nothing was changed.") from None
        step("done")
