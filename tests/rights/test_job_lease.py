"""One worker at a job: a lease with a token, renewed by chunk, and files that nobody forgets."""

import io
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, default_storage
from django.db import connections
from django.utils import timezone

from backend.conversations import attachments
from backend.conversations.models import Attachment
from backend.generation.models import Generation
from backend.rights import erasure as erasing
from backend.rights import export as exporting
from backend.rights import lease as leasing
from backend.rights.export_files import exports_sweep
from backend.rights.jobs import jobs_run
from backend.rights.lease import Lease, LeaseLost
from backend.rights.models import DataExport, Erasure, JobState
from backend.rights.registry import BY_LABEL
from backend.rights.requests import export_request, user_erase
from backend.rights.subject import Subject
from tests.factories import member
from tests.rights.test_erasure import WORDS, files, furnish

__all__ = ["files"]
pytestmark = pytest.mark.django_db(transaction=True)


def with_words(folder: Path) -> list[str]:
    """Files that hold what the subject wrote."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    found = [path for path in paths if WORDS.encode() in path.read_bytes()]
    return sorted(str(path.relative_to(folder)) for path in found)


def parts(folder: Path) -> list[Path]:
    return [path for path in (folder / "exports").rglob("*") if path.is_file()]


def work_in_thread() -> threading.Thread:
    def work() -> None:
        try:
            jobs_run()
        finally:
            connections.close_all()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


@pytest.fixture
def short_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leasing, "LEASE", timedelta(seconds=1))


class Gate:
    """Stops the worker that copies a file into a zip, until it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.entered, self.opened = threading.Event(), threading.Event()
        self.copies = 0
        original = exporting._copy

        def copy(source: IO[bytes], target: IO[bytes], lease: Lease) -> None:
            self.copies += 1
            if self.copies == 1:
                self.entered.set()
                self.opened.wait(60)
            original(source, target, lease)

        monkeypatch.setattr(exporting, "_copy", copy)


# --- The lease -------------------------------------------------------------------------------


def test_export_longer_than_its_lease_stays_one_workers(
    files: Path, short_lease: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of several gigabytes: the lease is renewed at each chunk of it."""
    principal = member()
    furnish(principal)
    export_request(principal=principal)
    writers = set()
    original = exporting._copy

    class Slow(io.BytesIO):
        def __init__(self, source: IO[bytes]) -> None:
            super().__init__()
            self.source, self.reads = source, 0

        def read(self, size: int | None = -1) -> bytes:
            writers.add(threading.get_ident())
            self.reads += 1
            if self.reads <= 4:
                time.sleep(0.4)
                return self.source.read(16)
            return self.source.read(-1 if size is None else size)

    monkeypatch.setattr(
        exporting, "_copy", lambda source, target, lease: original(Slow(source), target, lease)
    )
    monkeypatch.setattr(exporting, "WITH_FILES", ())
    first = work_in_thread()
    others = []
    while first.is_alive():
        others.append(work_in_thread())
        time.sleep(0.3)
    for thread in [first, *others]:
        thread.join(60)
    export = DataExport.objects.get()
    assert (export.state, export.attempts, len(writers)) == (JobState.DONE, 1, 1)


def test_worker_that_lost_its_lease_writes_nothing_more(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was stopped for longer than the lease; another one has made the export meanwhile."""
    principal = member()
    furnish(principal)
    export_request(principal=principal)
    gate = Gate(monkeypatch)
    stalled = work_in_thread()
    assert gate.entered.wait(60)
    DataExport.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
    assert jobs_run() == 1
    done = DataExport.objects.get()
    gate.opened.set()
    stalled.join(60)
    export = DataExport.objects.get()
    assert (export.state, export.file, export.sha256) == (JobState.DONE, done.file, done.sha256)
    assert [str(path.relative_to(files)) for path in parts(files)] == [export.file.name]


def test_lost_lease_is_refused_whatever_it_writes() -> None:
    export_request(principal=member())
    lease = Lease.claim(DataExport)
    assert lease is not None
    lease.check()
    DataExport.objects.update(lease=uuid4())
    with pytest.raises(LeaseLost):
        lease.check()
    lease.job.error = "mine"
    with pytest.raises(LeaseLost):
        lease.store("error")
    assert DataExport.objects.get().error == ""


def test_rows_are_blanked_in_batches(
    monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    principal = member()
    furnish(principal)
    [stored] = Generation.objects.filter(user_id=principal.user_id)[:1]
    rows = [Generation(**_copied(stored)) for _ in range(8)]
    Generation.objects.bulk_create(rows)
    table = BY_LABEL["generation.Generation"]
    subject = Subject("user", principal.user_id)
    count = Generation.objects.filter(user_id=principal.user_id).count()
    monkeypatch.setattr(erasing, "BLANKED_AT_ONCE", 3)
    user_erase(user_id=principal.user_id)
    lease = Lease.claim(Erasure)
    assert lease is not None
    batches = -(-count // 3)
    with django_assert_num_queries(2 * batches + 1):
        erasing._erase_rows(table, subject, lease)
    assert not Generation.objects.filter(user_id=principal.user_id).exists()


def _copied(row: Generation) -> dict[str, Any]:
    names = [field.attname for field in row._meta.concrete_fields if not field.primary_key]
    values = {name: getattr(row, name) for name in names}
    return {**values, "id": uuid4()}


# --- Nothing of an export is left ------------------------------------------------------------


@pytest.mark.parametrize("when", ["worker died", "storage failed"])
def test_erasure_deletes_half_written_exports(
    files: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    principal = member()
    furnish(principal)
    export_request(principal=principal)

    def fails(*args: object) -> None:
        raise SystemExit if when == "worker died" else OSError("the storage is away")

    with monkeypatch.context() as broken:
        broken.setattr(exporting, "_write_zip", fails)
        if when == "worker died":
            with pytest.raises(SystemExit):
                jobs_run()
            DataExport.objects.update(claimed_until=timezone.now())  # the lease has ended
        else:
            jobs_run()
    assert parts(files)
    user_erase(user_id=principal.user_id)
    jobs_run()
    assert Erasure.objects.get(kind="user").state == JobState.DONE
    assert with_words(files) == parts(files) == []


def test_erasure_waits_for_who_writes_an_export(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    principal = member()
    furnish(principal)
    export_request(principal=principal)
    gate = Gate(monkeypatch)
    writing = work_in_thread()
    assert gate.entered.wait(60)
    user_erase(user_id=principal.user_id)
    jobs_run()
    erasure = Erasure.objects.get(kind="user")
    assert erasure.state == JobState.RUNNING  # it is tried again
    gate.opened.set()
    writing.join(60)
    Erasure.objects.update(claimed_until=None)
    jobs_run()
    erasure.refresh_from_db()
    assert erasure.state == JobState.DONE
    assert with_words(files) == parts(files) == []


def test_sweep_deletes_folders_without_an_export(files: Path) -> None:
    principal = member()
    furnish(principal)
    export_request(principal=principal)
    jobs_run()
    default_storage.save(f"exports/{uuid4()}/conversations.Message.jsonl", ContentFile(b"left"))
    assert exports_sweep() == 1
    assert exports_sweep() == 0
    [kept] = parts(files)
    assert str(kept.relative_to(files)) == DataExport.objects.get().file.name


def test_attachment_has_its_row_before_its_bytes(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows_at_save = []
    save = FileSystemStorage.save

    def spied(self: FileSystemStorage, name: str, content: Any) -> str:
        rows_at_save.append((name, list(Attachment.objects.values_list("file", flat=True))))
        return save(self, name, content)

    monkeypatch.setattr(FileSystemStorage, "save", spied)
    attachments.attachment_create(principal=member(), filename="a.txt", file=io.BytesIO(b"words"))
    [(name, rows)] = rows_at_save
    assert rows == [name]


def test_attachment_that_cannot_be_stored_leaves_no_row(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: FileSystemStorage, name: str, content: Any) -> str:
        raise OSError("the storage is away")

    monkeypatch.setattr(FileSystemStorage, "save", fails)
    with pytest.raises(OSError, match="away"):
        attachments.attachment_create(
            principal=member(), filename="a.txt", file=io.BytesIO(b"words")
        )
    assert not Attachment.objects.exists()
