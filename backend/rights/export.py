"""A copy of a subject's data: a zip of JSON lines and files. docs/data-rights.md describes it.

Table by table, each a part of its own in the storage, so a job that a worker died with goes on with
the next table. The zip is put together at the end. Rows and files are read and written in chunks:
memory stays flat, however much there is.
"""

import hashlib
import tempfile
import zipfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import PurePosixPath
from typing import IO, Any

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Model
from django.utils import timezone
from django.utils.translation import gettext

from backend.accounts.languages import writing_to
from backend.accounts.mail import mail_queue
from backend.accounts.models import User
from backend.platform.json import encode_json
from backend.platform.pages import in_pages
from backend.rights.export_files import export_folder, folder_delete
from backend.rights.lease import Lease
from backend.rights.models import DataExport, JobState, SubjectKind
from backend.rights.readme import readme_text
from backend.rights.registry import BY_LABEL, TABLES, Table
from backend.rights.subject import Subject

KEPT = timedelta(days=7)
WITH_FILES = ("conversations.Attachment", "api.StoredFile")
_CHUNK_ROWS = 200
_CHUNK_BYTES = 256 * 1024


def export(job: DataExport, *, lease: Lease) -> None:
    """Write the parts that are missing, then the zip.

    Raises: LeaseLost: another worker has the job, or it was ended.
    """
    subject = _subject(job)
    for table in TABLES:
        if not table.exported or table.label in job.progress:
            continue
        job.progress[table.label] = _write_part(job, table, subject, lease)
        lease.store("progress")
    _write_zip(job, subject, lease)


def exports_expire() -> int:
    """Delete the files of exports that have expired. Returns how many."""
    due = DataExport.objects.filter(expires_at__lte=timezone.now()).exclude(file="")
    expired = 0
    for job in due.iterator():
        folder_delete(export_folder(job.pk))
        job.file, job.progress = "", {}
        job.save(update_fields=["file", "progress"])
        expired += 1
    return expired


def document_of(table: Table, row: Model) -> dict[str, Any]:
    """What an export says of a row: its columns by name, without what is hidden."""
    document = {
        column.attname: getattr(row, column.attname)
        for column in row._meta.concrete_fields
        if column.attname not in table.hidden
    }
    for name in table.extra:
        try:
            document[name] = getattr(row, name)
        except RuntimeError:  # encrypted under a key that was dropped: nobody can read it
            document[name] = None
    return document


def _subject(job: DataExport) -> Subject:
    email = ""
    if job.kind == SubjectKind.USER:
        email = User.objects.values_list("email", flat=True).get(pk=job.subject_id)
    return Subject(job.kind, job.subject_id, email)


def _write_part(job: DataExport, table: Table, subject: Subject, lease: Lease) -> int:
    """One table as JSON lines into the storage; how many rows it has."""
    rows, count = table.rows(subject), 0
    if rows is None:
        return 0
    with tempfile.TemporaryFile() as part:
        for row in in_pages(rows, size=_CHUNK_ROWS):
            part.write(_line(document_of(table, row)))
            count += 1
            if count % _CHUNK_ROWS == 0:
                lease.renew()
        if count:
            part.seek(0)
            name = _part_name(job, table.label)
            lease.check()
            default_storage.delete(name)  # of an attempt that ended before it was noted
            default_storage.save(name, _RenewingFile(part, lease))
    return count


def _write_zip(job: DataExport, subject: Subject, lease: Lease) -> None:
    with tempfile.TemporaryFile() as whole:
        with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
            with archive.open("README.json", "w") as entry:
                entry.write(_line(_readme(job)))
            with archive.open("README.md", "w") as entry:
                entry.write(readme_text(job).encode())
            for label, count in job.progress.items():
                if not count:
                    continue
                with (
                    default_storage.open(_part_name(job, label)) as part,
                    archive.open(f"{label}.jsonl", "w", force_zip64=True) as entry,
                ):
                    _copy(part, entry, lease)
            for name, stored in _files(subject):
                if not default_storage.exists(stored):
                    continue
                with default_storage.open(stored) as file, archive.open(name, "w") as entry:
                    _copy(file, entry, lease)
        size, digest = whole.tell(), hashlib.sha256()
        whole.seek(0)
        while chunk := whole.read(_CHUNK_BYTES):
            digest.update(chunk)
            lease.renew()
        whole.seek(0)
        lease.check()
        name = f"{export_folder(job.pk)}/export.zip"
        default_storage.delete(name)  # of an attempt that ended before it was noted
        stored = default_storage.save(name, _RenewingFile(whole, lease))
    _finish(lease, stored, size, digest.hexdigest())


def _files(subject: Subject) -> Iterator[tuple[str, str]]:
    """Each file of the subject: its name in the zip, and in the storage."""
    for label in WITH_FILES:
        rows = BY_LABEL[label].rows(subject)
        if rows is None:
            continue
        for pk, stored in rows.order_by("pk").values_list("pk", "file").iterator():
            if stored:
                yield f"files/{label}/{pk}{PurePosixPath(stored).suffix}", stored


@transaction.atomic
def _finish(lease: Lease, stored: str, size: int, sha256: str) -> None:
    job = lease.job
    assert isinstance(job, DataExport)
    parts = [_part_name(job, label) for label, count in job.progress.items() if count]
    job.file, job.size, job.sha256 = stored, size, sha256
    job.state, job.error, job.progress = JobState.DONE, "", {}
    job.finished_at = timezone.now()
    job.expires_at = job.finished_at + KEPT
    lease.store("file", "size", "sha256", "state", "error", "progress", "finished_at", "expires_at")
    for name in parts:
        default_storage.delete(name)
    asked = User.objects.filter(is_active=True, pk__in=[job.requested_by_id or job.subject_id])
    for user in asked:
        with writing_to(user):
            mail_queue(
                to=user.email,
                kind="export",
                subject=gettext("Your data is ready"),
                text=gettext(
                    "The export that you asked for is ready:\n\n%(link)s\n\n"
                    "It can be downloaded for seven days.\n"
                )
                % {"link": f"{settings.PUBLIC_URL}/settings/privacy"},
            )


def _readme(job: DataExport) -> dict[str, Any]:
    return {
        "format": "parley.export.v1",
        "subject": {"kind": job.kind, "id": str(job.subject_id)},
        "requested_at": job.created_at,
        "rows": {label: count for label, count in job.progress.items() if count},
        "files": "files/<table>/<id of its row>.<type>",
        "left_out": "Passwords, keys' secrets and other credentials; what is others'.",
    }


def _line(document: dict[str, Any]) -> bytes:
    return encode_json(document) + b"\n"


class _RenewingFile(File):
    """A file that renews the lease as a storage reads it, for hours where it is large."""

    def __init__(self, file: IO[bytes], lease: Lease) -> None:
        super().__init__(file)
        self._source, self._lease = file, lease

    def read(self, size: int = -1) -> bytes:
        self._lease.renew()
        return self._source.read(size)


def _copy(source: IO[bytes], target: IO[bytes], lease: Lease) -> None:
    while chunk := source.read(_CHUNK_BYTES):
        target.write(chunk)
        lease.renew()


def _part_name(job: DataExport, label: str) -> str:
    return f"{export_folder(job.pk)}/{label}.jsonl"
