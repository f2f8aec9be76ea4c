"""`manage.py repeat_erasures`: after a restore, erase again what had been erased.

Without arguments all erasures that the restored database knows; those that are younger than the
backup are named by their certificates: `--user ID`, `--organization ID`.
"""

from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandParser

from backend.accounts.models import User
from backend.rights.jobs import jobs_run
from backend.rights.models import Erasure, JobState, SubjectKind
from backend.rights.requests import user_erase


class Command(BaseCommand):
    help = "Erase again what had been erased before a backup was restored."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", action="append", type=UUID, default=[])
        parser.add_argument("--organization", action="append", type=UUID, default=[])

    def handle(self, *args: Any, **options: Any) -> None:
        known = Erasure.objects.filter(state=JobState.DONE).values_list("kind", "subject_id")
        named = [(SubjectKind.USER.value, one) for one in options["user"]]
        named += [(SubjectKind.ORGANIZATION.value, one) for one in options["organization"]]
        for kind, subject_id in sorted({*known, *named}, key=str):
            if kind == SubjectKind.USER and User.objects.filter(pk=subject_id, is_active=True):
                user_erase(user_id=subject_id, reason="After a restore.")
                continue
            Erasure.objects.get_or_create(
                kind=kind,
                subject_id=subject_id,
                state=JobState.QUEUED,
                defaults={"reason": "After a restore.", "progress": {"at_once": {}, "email": ""}},
            )
        self.stdout.write(f"{jobs_run()} erasures repeated.")
