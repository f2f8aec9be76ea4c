"""`manage.py repeat_erasures`: after a restore, erase again what had been erased.

Without arguments all erasures that the restored database knows; those that are younger than the
backup are named by their certificates: `--user ID`, `--organization ID`. Ends with 1, and says
which, where one could not be repeated.
"""

from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from backend.accounts.models import Organization, User
from backend.platform.errors import ParleyError
from backend.rights.jobs import jobs_run
from backend.rights.models import UNFINISHED, Erasure, JobState, SubjectKind
from backend.rights.requests import organization_erase, user_erase

_REASON = "After a restore."


class Command(BaseCommand):
    help = "Erase again what had been erased before a backup was restored."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", action="append", type=UUID, default=[])
        parser.add_argument("--organization", action="append", type=UUID, default=[])

    def handle(self, *args: Any, **options: Any) -> None:
        known = Erasure.objects.filter(state=JobState.DONE).values_list("kind", "subject_id")
        named = [(SubjectKind.USER.value, one) for one in options["user"]]
        named += [(SubjectKind.ORGANIZATION.value, one) for one in options["organization"]]
        left = []
        # Users first: organizations in which they are alone go with them.
        for kind, subject_id in sorted({*known, *named}, key=str, reverse=True):
            try:
                _repeat(kind, subject_id)
            except ParleyError as error:
                left.append(f"{kind} {subject_id}: {error.message}")
        self.stdout.write(f"{jobs_run()} erasures repeated.")
        unfinished = Erasure.objects.filter(state__in=[*UNFINISHED, JobState.FAILED])
        left += [f"{job}: {job.error}".removesuffix(": ") for job in unfinished]
        if left:
            raise CommandError("\n".join(["Not erased:", *left]))


def _repeat(kind: str, subject_id: UUID) -> None:
    """As it was asked for, where the subject lives again; else table by table.

    Raises ParleyError: what stands against it.
    """
    if Erasure.objects.filter(kind=kind, subject_id=subject_id, state__in=UNFINISHED).exists():
        return
    if kind == SubjectKind.USER and User.objects.filter(pk=subject_id, is_active=True).exists():
        user_erase(user_id=subject_id, reason=_REASON)
    elif Organization.objects.filter(pk=subject_id, memberships__isnull=False).exists():
        organization_erase(organization_id=subject_id, reason=_REASON)
    else:
        Erasure.objects.create(
            kind=kind, subject_id=subject_id, reason=_REASON, progress={"at_once": {}}
        )
