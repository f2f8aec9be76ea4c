"""Retention and legal holds of files, batches and replayed answers of the API."""

import io
from datetime import timedelta
from uuid import uuid4

import pytest
from django.core.files.storage import default_storage
from django.utils import timezone

from backend.accounts.legal_hold import legal_hold_begin, legal_hold_end
from backend.accounts.models import DataPolicy, Project
from backend.accounts.principal import Principal
from backend.api.batches.rows import purge_batches
from backend.api.files.rows import file_delete, file_store, purge_files
from backend.api.files.uploads import part_add, upload_cancel, upload_create
from backend.api.idempotency import claim_key, purge_expired
from backend.api.models import (
    Batch,
    FilePurpose,
    IdempotencyRecord,
    StoredFile,
    Upload,
    UploadPart,
)
from backend.platform.errors import LegallyHeld
from safety.audit.models import StoredText
from safety.audit.services import expired_texts_delete
from tests.accounts.test_data_policy import retained_text
from tests.factories import member
from tests.rights.test_erasure import files

__all__ = ["files"]
pytestmark = pytest.mark.django_db


def stored(principal: Principal, *, age: timedelta) -> StoredFile:
    row = file_store(
        organization_id=principal.organization_id,
        user_id=principal.user_id,
        project_id=principal.project_id,
        purpose=FilePurpose.BATCH,
        filename="lines.jsonl",
        source=io.BytesIO(b"{}"),
        size=2,
    )
    StoredFile.objects.filter(pk=row.pk).update(created_at=timezone.now() - age)
    return row


def batch(principal: Principal, source: StoredFile, *, ended: timedelta | None) -> Batch:
    now = timezone.now()
    return Batch.objects.create(
        organization_id=principal.organization_id,
        user_id=principal.user_id,
        project_id=principal.project_id,
        endpoint="/v1/chat/completions",
        input_file_id=source.pk,
        state="in_progress" if ended is None else "completed",
        ended_at=None if ended is None else now - ended,
        expires_at=now,
    )


def keep(principal: Principal, whose: str, days: int) -> None:
    if whose == "organization":
        DataPolicy.objects.update_or_create(
            pk=principal.organization_id, defaults={"retention_days": days}
        )
    else:
        Project.objects.filter(pk=principal.project_id).update(retention_days=days)


@pytest.mark.parametrize("whose", ["organization", "project"])
def test_files_and_batches_go_when_they_are_kept_no_longer(whose: str) -> None:
    principal, other = member(), member()
    old, fresh = timedelta(days=8), timedelta(days=6)
    gone, kept, others = (
        stored(principal, age=old),
        stored(principal, age=fresh),
        stored(other, age=old),
    )
    read = stored(principal, age=old)
    under_way = batch(principal, read, ended=None)
    ended = batch(principal, gone, ended=old)
    others_ended = batch(other, others, ended=old)
    assert (purge_files(), purge_batches()) == (0, 0)
    keep(principal, whose, 7)
    assert (purge_files(), purge_batches()) == (1, 1)
    assert set(StoredFile.objects.values_list("pk", flat=True)) == {kept.pk, others.pk, read.pk}
    assert set(Batch.objects.values_list("pk", flat=True)) == {under_way.pk, others_ended.pk}
    assert not default_storage.exists(gone.file)
    assert not Batch.objects.filter(pk=ended.pk).exists()


def test_at_0_days_files_stay_an_hour_to_be_read_and_fetched() -> None:
    principal = member()
    keep(principal, "organization", 0)
    fresh = stored(principal, age=timedelta(minutes=50))
    stored(principal, age=timedelta(minutes=70))
    upload = upload_create(
        principal=principal, filename="b", size=9, content_type="text/plain", expires_after=None
    )
    past = timezone.now() - timedelta(hours=2)
    Upload.objects.filter(pk=upload.pk).update(
        created_at=past, expires_at=past + timedelta(hours=1)
    )
    assert purge_files() == 1
    assert StoredFile.objects.get().pk == fresh.pk
    assert not Upload.objects.exists()


def test_answers_and_texts_of_before_go_when_nothing_is_kept_any_more() -> None:
    principal, other = member(), member()
    for one in (principal, other):
        replayable(one)
        retained_text(one, days=30)
    keep(principal, "organization", 0)
    assert purge_expired() == 0  # the row stays: a retry must not run again
    assert expired_texts_delete() == 1
    assert StoredText.objects.get().decision.user_id == other.user_id
    assert [row.body for row in IdempotencyRecord.objects.order_by("pk")] == [None, b"answer"]


def replayable(principal: Principal) -> IdempotencyRecord:
    return IdempotencyRecord.objects.create(
        organization_id=principal.organization_id,
        user_id=principal.user_id,
        key="k",
        fingerprint="f",
        body=b"answer",
    )


@pytest.mark.parametrize("subject", ["organization", "user"])
def test_legal_hold_keeps_files_batches_and_answers_until_it_ends(subject: str) -> None:
    principal = member()
    old = timedelta(days=3)
    past = timezone.now() - old
    source = stored(principal, age=old)
    expired = stored(principal, age=old)
    StoredFile.objects.filter(pk=expired.pk).update(expires_at=past)
    batch(principal, source, ended=old)
    upload = upload_create(
        principal=principal, filename="b", size=9, content_type="text/plain", expires_after=None
    )
    name = f"upload_{upload.pk.hex}"
    part_add(principal=principal, text_id=name, source=io.BytesIO(b"part"), size=4)
    record = replayable(principal)
    IdempotencyRecord.objects.update(created_at=past)
    keep(principal, "organization", 0)
    hold = legal_hold_begin(
        reason="Court of X", **{f"{subject}_id": getattr(principal, f"{subject}_id")}
    )
    with pytest.raises(LegallyHeld):
        file_delete(principal=principal, text_id=f"file-{source.pk.hex}")
    with pytest.raises(LegallyHeld):
        upload_cancel(principal=principal, text_id=name)
    Upload.objects.update(expires_at=past)
    assert (purge_files(), purge_batches(), purge_expired()) == (0, 0, 0)
    assert default_storage.exists(UploadPart.objects.get().file)
    # Its key is free again after a day all the same, and the held answer stays.
    again = claim_key(
        organization_id=principal.organization_id,
        user_id=principal.user_id,
        key="k",
        fingerprint="f",
        holder=uuid4().hex,
    )
    assert again.record_id != record.pk
    record.refresh_from_db()
    assert record.body == b"answer"

    legal_hold_end(hold=hold)
    assert (purge_files(), purge_batches(), purge_expired()) == (2, 1, 1)
    assert not UploadPart.objects.exists()
