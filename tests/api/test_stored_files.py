"""Files of programs: quotas by plan, and what is left half-written is found and removed."""

import io
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage
from django.utils import timezone

from backend.accounts.models import Plan
from backend.api.files import rows, uploads
from backend.api.models import FilePurpose, StoredFile, Upload, UploadPart
from backend.api.ranges import RangeNotSatisfiable, byte_range
from backend.platform.errors import InsufficientQuota
from tests.factories import member

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def storage(tmp_path: Path, settings):
    own = {"BACKEND": "django.core.files.storage.FileSystemStorage"}
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {**own, "OPTIONS": {"location": str(tmp_path)}},
    }
    return tmp_path


def store(principal, text: bytes, **fields):
    return rows.file_store(
        organization_id=principal.organization_id,
        user_id=principal.user_id,
        project_id=None,
        purpose=FilePurpose.BATCH,
        filename="a",
        source=io.BytesIO(text),
        size=len(text),
        **fields,
    )


def files_in(directory: Path) -> int:
    return sum(path.is_file() for path in directory.rglob("*"))


def test_expired_and_half_written_files_are_removed_and_no_others(storage):
    principal = member()
    kept = store(principal, b"kept")
    store(principal, b"gone", expires_at=timezone.now() - timedelta(seconds=1))
    half = store(principal, b"half")
    long_ago = timezone.now() - timedelta(hours=2)
    StoredFile.objects.filter(pk=half.pk).update(is_ready=False, created_at=long_ago)
    being_written = store(principal, b"just now")
    StoredFile.objects.filter(pk=being_written.pk).update(is_ready=False)
    upload = uploads.upload_create(
        principal=principal, filename="b", size=9, content_type="text/plain", expires_after=None
    )
    uploads.part_add(
        principal=principal,
        text_id=f"upload_{upload.pk.hex}",
        source=io.BytesIO(b"part"),
        size=4,
    )
    upload.expires_at = timezone.now() - timedelta(seconds=1)
    upload.save()
    assert files_in(storage) == 5

    assert rows.purge_files() == 2
    assert files_in(storage) == 2
    assert {row.pk for row in StoredFile.objects.all()} == {kept.pk, being_written.pk}
    assert not UploadPart.objects.exists()
    assert [row.pk for row in rows.files_of(principal)] == [kept.pk]


def test_file_that_cannot_be_stored_leaves_nothing(storage, monkeypatch):
    principal = member()
    monkeypatch.setattr(FileSystemStorage, "save", fails)
    with pytest.raises(OSError, match="full"):
        store(principal, b"text")
    assert not StoredFile.objects.exists()


def fails(storage: FileSystemStorage, name: str, content: ContentFile) -> str:
    raise OSError("the disk is full")


def announce(principal, size):
    return uploads.upload_create(
        principal=principal, filename="b", size=size, content_type="text/plain", expires_after=None
    )


def test_open_uploads_hold_room_of_plan():
    principal = member()
    Plan.objects.update(file_bytes=10)
    first = announce(principal, 6)
    with pytest.raises(InsufficientQuota) as refusal:
        announce(principal, 6)
    assert refusal.value.code == "file_storage_exceeded"
    with pytest.raises(InsufficientQuota):
        store(principal, b"12345")
    store(principal, b"1234")
    part = uploads.part_add(
        principal=principal, text_id=f"upload_{first.pk.hex}", source=io.BytesIO(b"123456"), size=6
    )
    uploads.upload_complete(
        principal=principal, text_id=f"upload_{first.pk.hex}", part_ids=[part["id"]], md5=None
    )
    assert sum(StoredFile.objects.values_list("size", flat=True)) == 10


def test_ended_upload_gives_its_room_back():
    principal = member()
    Plan.objects.update(file_bytes=10)
    for _ in range(2):
        cancelled = announce(principal, 10)
        uploads.upload_cancel(principal=principal, text_id=f"upload_{cancelled.pk.hex}")
    late = announce(principal, 10)
    Upload.objects.filter(pk=late.pk).update(expires_at=timezone.now())
    announce(principal, 10)


def test_late_upload_holds_its_room_while_its_parts_lie_there():
    principal = member()
    Plan.objects.update(file_bytes=10)
    late = announce(principal, 10)
    uploads.part_add(
        principal=principal, text_id=f"upload_{late.pk.hex}", source=io.BytesIO(b"1"), size=1
    )
    Upload.objects.filter(pk=late.pk).update(expires_at=timezone.now())
    with pytest.raises(InsufficientQuota):
        announce(principal, 10)
    rows.purge_files()
    announce(principal, 10)


def test_uploads_of_an_organization_are_bounded_in_number(monkeypatch):
    principal = member()
    monkeypatch.setattr(uploads, "MAX_OPEN", 2)
    for _ in range(2):
        announce(principal, 1)
    with pytest.raises(InsufficientQuota) as refusal:
        announce(principal, 1)
    assert refusal.value.code == "too_many_uploads"


def test_plan_bounds_what_an_organization_stores():
    principal = member()
    Plan.objects.update(file_bytes=10)
    store(principal, b"12345")
    with pytest.raises(InsufficientQuota) as refusal:
        store(principal, b"123456")
    assert refusal.value.code == "file_storage_exceeded"
    store(principal, b"results are kept", within_quota=False)


@pytest.mark.parametrize(
    ("header", "wanted"),
    [
        (None, None),
        ("bytes=0-3", range(0, 4)),
        ("bytes=4-", range(4, 10)),
        ("bytes=-3", range(7, 10)),
        ("bytes=-30", range(0, 10)),
        ("bytes=8-99", range(8, 10)),
        ("bytes=3-2", None),
        ("bytes=0-1,4-5", None),
        ("bytes=-", None),
        ("lines=0-1", None),
        ("bytes=a-b", None),
    ],
)
def test_range_is_read_or_ignored(header, wanted):
    assert byte_range(header, 10) == wanted


@pytest.mark.parametrize("header", ["bytes=10-", "bytes=99-100", "bytes=-0"])
def test_range_outside_the_file_is_refused(header):
    with pytest.raises(RangeNotSatisfiable) as refused:
        byte_range(header, 10)
    assert refused.value.headers == {"Content-Range": "bytes */10"}
