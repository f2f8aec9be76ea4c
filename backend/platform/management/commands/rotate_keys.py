"""`manage.py rotate-keys`: a new key version, everything stored moved to it, an old one dropped.

    rotate-keys             add a version, wait until it writes, move what is stored, report
    rotate-keys --no-new    only move what is stored, and report; after an interruption too
    rotate-keys --drop N    take version N out, unless something still needs it

The product may run meanwhile. Exits with 1 when a value cannot be read or a version not be dropped.
"""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from backend.platform import rotation
from backend.platform.reencryption import BATCH


class Command(BaseCommand):
    help = "Rotate the master keys: nobody is signed out, nothing stored is lost."

    def add_arguments(self, parser: ArgumentParser) -> None:
        action = parser.add_mutually_exclusive_group()
        action.add_argument("--no-new", action="store_true", help="add no version")
        action.add_argument("--drop", type=int, metavar="N", help="take version N out")
        parser.add_argument(
            "--end-links",
            action="store_true",
            help="with --drop: links in mails that it signed stop working (after a leak)",
        )
        parser.add_argument("--batch-size", type=int, default=BATCH)
        parser.add_argument("--activation-seconds", type=float, default=rotation.ACTIVATION_S)

    def handle(self, *args: Any, **options: Any) -> None:
        report = self.stdout.write
        try:
            if options["drop"] is not None:
                rotation.version_drop(options["drop"], report, links=not options["end_links"])
                return
            if not options["no_new"]:
                rotation.version_add(report, after_s=options["activation_seconds"])
        except rotation.RotationError as error:
            raise CommandError(str(error)) from error
        readable = rotation.everything_renew(report, batch=max(1, options["batch_size"]))
        report(rotation.known_versions())
        rotation.report_droppable(report)
        if not readable:
            sys.exit(1)
