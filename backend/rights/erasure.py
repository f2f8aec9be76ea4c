"""An erasure: table by table, files and caches, then the certificate.

Each step may be repeated: what is gone is gone, and counts are kept as they are made, so a job that
a worker died with goes on where it stopped. At the end every table is asked again, and a job that
finds a row left fails: a certificate says what is true.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Model, QuerySet
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from backend.accounts.mail import mail_queue
from backend.accounts.models import Organization, User
from backend.audit.actions import Action
from backend.audit.services import SYSTEM, record
from backend.generation.models import OPEN_STATES, Generation
from backend.generation.stream import keys
from backend.platform.languages import writing_in
from backend.platform.redis import sync_stream_client
from backend.rights.export_files import folder_delete
from backend.rights.lease import Lease
from backend.rights.models import UNFINISHED, DataExport, Erasure, JobState, SubjectKind
from backend.rights.registry import TABLES, Fate, Table
from backend.rights.subject import Subject

BATCH = 200
BLANKED_AT_ONCE = 1000
_GONE = (Fate.DELETED, Fate.WITH_PARENT)
_VERIFIED = gettext_noop("Every table was asked again after the erasure and had no row left.")
_BACKUPS = gettext_noop(
    "Backups made before hold the data for %(days)d days at most. After a restore,"
    " `manage.py repeat_erasures` erases it again."
)
_MAIL = gettext_noop("The mail with this certificate is forgotten after 30 days.")
_SUBJECTS = {
    SubjectKind.USER: gettext_noop("User %(id)s"),
    SubjectKind.ORGANIZATION: gettext_noop("Organization %(id)s"),
}
_DONE = {
    Fate.DELETED: gettext_noop("%(table)s: %(rows)d rows deleted"),
    Fate.WITH_PARENT: gettext_noop("%(table)s: %(rows)d rows deleted with what it belongs to"),
    Fate.BLANKED: gettext_noop("%(table)s: %(rows)d rows anonymised"),
    Fate.KEPT: gettext_noop("%(table)s: %(rows)d rows kept"),
}


class NotYet(Exception):
    """Something of the subject is still running; the job is tried again."""


class RowsLeft(RuntimeError):
    """A table still has rows of the subject after its erasure."""


def counts_of(subject: Subject) -> dict[str, int]:
    """How many rows of the subject each table has; tables without any are left out."""
    counts = {}
    for table in TABLES:
        rows = table.rows(subject)
        if rows is not None and (count := rows.count()):
            counts[table.label] = count
    return counts


def erase(erasure: Erasure, *, lease: Lease) -> None:
    """Erase what is left, and write the certificate.

    Raises:
        NotYet: an answer is still being generated, or an export is still being written.
        LeaseLost: another worker has the job. RowsLeft.
    """
    subject = Subject(erasure.kind, erasure.subject_id)
    if _open_generations(subject).exists():
        raise NotYet
    _end_exports(subject)
    erasure.progress.setdefault("counts", {**counts_of(subject), **erasure.progress["at_once"]})
    erasure.progress["cached"] = erasure.progress.get("cached", 0) + _forget_buffers(subject)
    lease.store("progress")
    for table in TABLES:
        _erase_rows(table, subject, lease)
    _blank_admin_log(subject)
    _finish(erasure, subject, lease)


def _open_generations(subject: Subject) -> QuerySet[Generation]:
    return Generation.objects.filter(**{f"{subject.kind}_id": subject.id}, state__in=OPEN_STATES)


def _end_exports(subject: Subject) -> None:
    """End exports of the subject that are not done; whoever writes one has lost its lease by it.

    Raises: NotYet: a worker may still be writing. It leaves at its next chunk, or its lease ends.
    """
    exports = DataExport.objects.filter(kind=subject.kind, subject_id=subject.id)
    with transaction.atomic():
        for job in exports.select_for_update().filter(state__in=UNFINISHED):
            if job.state != JobState.RUNNING:
                job.claimed_until = None
            job.state, job.lease = JobState.FAILED, uuid4()
            job.error = "The subject is being erased."
            job.save(update_fields=["state", "lease", "claimed_until", "error"])
    if exports.filter(state=JobState.FAILED, claimed_until__gt=timezone.now()).exists():
        raise NotYet


def _erase_rows(table: Table, subject: Subject, lease: Lease) -> None:
    rows, fate = table.rows(subject), table.fate(subject.kind)
    if rows is None or fate in (Fate.KEPT, Fate.WITH_PARENT):
        return
    if fate is Fate.BLANKED:
        if table.blank:
            _blank_rows(rows, table.blank, lease)
        return
    while batch := list(rows.order_by("pk")[:BATCH]):
        # Files first: after a crash in between a row is found again, a file is not.
        for row in batch:
            for name in filter(None, (str(getattr(row, field)) for field in table.stored)):
                default_storage.delete(name)
            if table.folder is not None:
                folder_delete(table.folder(row.pk))
        with transaction.atomic():
            table.model._default_manager.filter(pk__in=[row.pk for row in batch]).delete()
        lease.renew()


def _blank_rows(rows: QuerySet[Model], blank: Mapping[str, Any], lease: Lease) -> None:
    """In batches by key: one statement for all would hold its locks, and the lease, too long."""
    keys_left = rows.exclude(**blank).order_by("pk").values_list("pk", flat=True)
    batch = list(keys_left[:BLANKED_AT_ONCE])
    while batch:
        rows.model._default_manager.filter(pk__in=batch).update(**blank)
        lease.renew()
        batch = list(keys_left.filter(pk__gt=batch[-1])[:BLANKED_AT_ONCE])


def _forget_buffers(subject: Subject) -> int:
    """Answers that Redis holds for readers who come back."""
    longest = timedelta(
        hours=1, seconds=settings.GENERATION_TIMEOUT_S + settings.GENERATION_BUFFER_TTL_S
    )
    recent = Generation.objects.filter(
        **{f"{subject.kind}_id": subject.id}, created_at__gt=timezone.now() - longest
    ).values_list("pk", flat=True)
    forgotten = 0
    for generation_id in recent.iterator():
        names = (keys.events(generation_id), keys.request(generation_id))
        forgotten += int(bool(sync_stream_client().delete(*names)))
    return forgotten


def _blank_admin_log(subject: Subject) -> None:
    """What the admin's log says of the subject; who did what stays."""
    model: type[Model] = User if subject.kind == SubjectKind.USER else Organization
    LogEntry.objects.filter(
        content_type=ContentType.objects.get_for_model(model), object_id=str(subject.id)
    ).update(object_repr="erased", change_message="")


@transaction.atomic
def _finish(erasure: Erasure, subject: Subject, lease: Lease) -> None:
    left = {
        table.label: rows.count()
        for table in TABLES
        if table.fate(subject.kind) in _GONE and (rows := table.rows(subject)) is not None
    }
    left = {label: count for label, count in left.items() if count}
    if left:
        raise RowsLeft(f"Rows are left of: {', '.join(sorted(left))}.")
    erasure.certificate = certificate(erasure)
    notify, erasure.notify = erasure.notify, ""
    language, erasure.language = erasure.language, ""
    erasure.progress = {}
    erasure.state, erasure.finished_at, erasure.error = JobState.DONE, timezone.now(), ""
    lease.store("certificate", "notify", "language", "progress", "state", "finished_at", "error")
    if notify:
        with writing_in(language):
            mail_queue(
                to=notify,
                kind="erasure",
                subject=gettext("Certificate of erasure"),
                text=certificate_text(erasure.certificate),
            )
    record(
        Action.ERASURE_COMPLETED,
        organization_id=subject.id if subject.kind == SubjectKind.ORGANIZATION else None,
        actor=SYSTEM,
        target=(subject.kind, subject.id),
        details={"erasure": str(erasure.pk)},
    )


def certificate(erasure: Erasure) -> dict[str, Any]:
    """What was done: each table's fate and number of rows, why what stays does, and backups."""
    counts: dict[str, int] = erasure.progress["counts"]
    tables = [
        {
            "table": table.label,
            "rows": counts[table.label],
            "done": str(table.fate(erasure.kind)),
            **({"why": table.why} if table.why else {}),
        }
        for table in TABLES
        if counts.get(table.label)
    ]
    return {
        "certificate": str(erasure.pk),
        "subject": {"kind": erasure.kind, "id": str(erasure.subject_id)},
        "requested_at": erasure.created_at.isoformat(),
        "completed_at": timezone.now().isoformat(),
        "tables": tables,
        "cached_answers_deleted": erasure.progress["cached"],
        "verified": _VERIFIED,
        "backups": _BACKUPS % {"days": settings.BACKUP_DAYS},
        "backup_days": settings.BACKUP_DAYS,
        "mail": _MAIL,
    }


def certificate_text(document: dict[str, Any]) -> str:
    """The certificate, to be read by a person, in the language that is written in."""
    subject = document["subject"]
    of_whom = _SUBJECTS[SubjectKind(subject["kind"])]
    lines = [
        gettext("Certificate of erasure %(id)s") % {"id": document["certificate"]},
        gettext(of_whom) % {"id": subject["id"]},
        gettext("Asked for %(asked)s, completed %(completed)s (UTC)")
        % {"asked": document["requested_at"], "completed": document["completed_at"]},
        "",
    ]
    for row in document["tables"]:
        done, why = _DONE[Fate(row["done"])], row.get("why")
        lines.append(gettext(done) % row)
        if why and row["done"] in ("kept", "anonymised"):
            lines.append(f"    {gettext(why)}")
    verified, backups, mail = document["verified"], document["backups"], document["mail"]
    if "backup_days" in document:  # not in the older ones
        backups = gettext(_BACKUPS) % {"days": document["backup_days"]}
    lines += ["", gettext(verified), backups, gettext(mail)]
    return "\n".join(lines) + "\n"
