"""An erasure leaves nothing of its subject, everything of others, and a certificate of it."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.files.base import ContentFile
from django.db import connection
from django.utils import timezone

from backend.accounts.legal_hold import legal_hold_begin, legal_hold_end
from backend.accounts.models import (
    LegalHold,
    Mail,
    Membership,
    Organization,
    User,
)
from backend.accounts.principal import Principal
from backend.api.models import IdempotencyRecord, StoredChat, StoredResponse
from backend.audit.models import AuditEvent
from backend.conversations.feedback import feedback_set
from backend.conversations.models import Attachment, Conversation
from backend.generation.models import Generation, StoredAnswer
from backend.generation.stream import keys
from backend.platform.errors import Conflict, LegallyHeld, NotFound, PermissionDenied
from backend.platform.redis import sync_client
from backend.rights import erasure as erasing
from backend.rights.erasure import counts_of
from backend.rights.jobs import jobs_run
from backend.rights.models import Erasure, JobState
from backend.rights.registry import BY_LABEL
from backend.rights.requests import (
    organization_erase,
    own_organization_erase,
    user_erase,
)
from backend.rights.subject import Subject
from billing.models import Invoice, UsageRecord
from tests.accounts.test_data_policy import retained_text
from tests.conversations.message_trees import finished_turns
from tests.factories import MODEL, MembershipFactory, api_key_of, member

pytestmark = pytest.mark.django_db

WORDS = "the quick brown giraffe"


@pytest.fixture(autouse=True)
def files(settings: Any, tmp_path: Path) -> Path:
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": tmp_path},
        },
    }
    return tmp_path


def furnish(principal: Principal) -> Generation:
    """Something of the caller in most tables, with WORDS in each text."""
    now = timezone.now()
    chat = finished_turns(principal, 2, title=WORDS)
    chat.messages.update(text=WORDS, content=[{"type": "text", "text": WORDS}])
    answer = chat.messages.filter(role="assistant").latest("created_at")
    feedback_set(principal=principal, message_id=answer.pk, rating=1, comment=WORDS)
    chat.shares.create(
        created_by_id=principal.user_id,
        token_sha256=str(principal.user_id)[:64],
        title=WORDS,
        model=MODEL,
        snapshot=[{"content": WORDS}],
        expires_at=now + timedelta(days=1),
    )
    attachment = Attachment(
        organization_id=principal.organization_id,
        user_id=principal.user_id,
        conversation=chat,
        kind="text",
        filename=f"{WORDS}.txt",
        content_type="text/plain",
        size=len(WORDS),
    )
    attachment.file.save(f"{principal.user_id}.txt", ContentFile(WORDS.encode()))
    key, _ = api_key_of(principal)  # its name stands in the audit log, which is kept
    generation = Generation.objects.create(
        organization_id=principal.organization_id,
        project_id=principal.project_id,
        user_id=principal.user_id,
        api_key=key,
        request_id="req_1",
        client_hash="0" * 64,
        endpoint="chat",
        model=MODEL,
        state="completed",
        deadline_at=now,
        finished_at=now,
    )
    StoredAnswer.objects.create(generation=generation, text=WORDS)
    mine = {"organization_id": principal.organization_id, "user_id": principal.user_id}
    StoredResponse.objects.create(id=generation.pk, items=f'["{WORDS}"]', asked="{}", **mine)
    StoredChat.objects.create(
        id=generation.pk, model=MODEL, messages=f'["{WORDS}"]', asked="{}", **mine
    )
    IdempotencyRecord.objects.create(key="k", fingerprint="f", body=WORDS.encode(), **mine)
    retained_text(principal, days=3)
    UsageRecord.objects.create(
        occurred_at=now,
        project_id=principal.project_id,
        model=MODEL,
        pool=MODEL,
        state="completed",
        duration_ms=1,
        generation_id=generation.pk,
        **mine,
    )
    sync_client().set(keys.events(generation.pk), WORDS)
    sync_client().set(keys.request(generation.pk), WORDS)
    return generation


def tables_with(text: str) -> list[str]:
    """The tables of the whole database in any column of which `text` stands."""
    found = []
    with connection.cursor() as cursor:
        for name in connection.introspection.table_names(cursor):
            quoted = connection.ops.quote_name(name)
            cursor.execute(
                f"SELECT 1 FROM {quoted} t WHERE t::text ILIKE %s LIMIT 1", [f"%{text}%"]
            )
            if cursor.fetchone():
                found.append(name)
    return found


def keys_with(*texts: str) -> list[bytes]:
    """The keys of the whole Valkey that have one of `texts` in their name or their value."""
    client, found = sync_client(), []
    readers: dict[bytes, Any] = {
        b"string": client.get,
        b"hash": client.hgetall,
        b"list": lambda key: client.lrange(key, 0, -1),
        b"set": client.smembers,
        b"zset": lambda key: client.zrange(key, 0, -1),
        b"stream": client.xrange,
    }
    for key in client.scan_iter(count=1000):
        kind = client.type(key)
        value = readers[kind](key) if kind in readers else ""
        if any(text in repr((key, value)) for text in texts):
            found.append(key)
    return found


def test_erased_user_is_nowhere_and_others_are_as_they_were(files: Path) -> None:
    principal, other = member(name="Grace Giraffe"), member()
    MembershipFactory.create(organization_id=principal.organization_id, role="owner")
    user = User.objects.get(pk=principal.user_id)
    address = user.email
    generation = furnish(principal)
    furnish(other)
    LogEntry.objects.create(
        user_id=other.user_id,
        content_type=ContentType.objects.get_for_model(User),
        object_id=str(user.pk),
        object_repr=address,
        action_flag=CHANGE,
    )
    others_before = counts_of(Subject("user", other.user_id))
    assert len(tables_with(WORDS)) >= 7

    erasure = user_erase(user_id=user.pk)
    user.refresh_from_db()
    assert not user.is_active
    assert not Membership.objects.filter(user=user).exists()
    assert jobs_run() == 1

    erasure.refresh_from_db()
    assert erasure.state == JobState.DONE, erasure.error
    Conversation.objects.filter(user_id=other.user_id).count()
    assert counts_of(Subject("user", other.user_id)) == others_before
    Subject("organization", other.organization_id)
    organization_erase(organization_id=other.organization_id)
    jobs_run()
    assert tables_with(WORDS) == []
    assert tables_with("Giraffe") == []
    assert not [path for path in files.rglob("*") if path.is_file()]
    assert keys_with(WORDS, address, str(generation.pk)) == []
    # What still has the address are the mails of the end and of the certificate.
    assert tables_with(address) == ["accounts_mail"]
    assert set(Mail.objects.filter(to=address).values_list("kind", flat=True)) == {
        "account_deleted",
        "erasure",
    }
    certified = Mail.objects.get(kind="erasure", to=address)
    assert certified.subject == "Certificate of erasure"


def test_certificate_says_what_was_done_and_what_stays_and_why() -> None:
    principal = member()
    furnish(principal)
    erasure = user_erase(user_id=principal.user_id)
    jobs_run()
    erasure.refresh_from_db()
    document = erasure.certificate
    assert document is not None
    rows = {row["table"]: row for row in document["tables"]}
    assert rows["conversations.Message"]["rows"] == 4
    assert rows["conversations.Attachment"]["done"] == "deleted"
    assert rows["account.EmailAddress"] == {
        "table": "account.EmailAddress",
        "rows": 1,
        "done": "deleted",
    }
    assert rows["billing.UsageRecord"]["done"] == "anonymised"
    assert "law" in rows["billing.UsageRecord"]["why"]
    assert "30 days" in document["backups"]
    assert document["cached_answers_deleted"] == 1
    assert erasure.progress == {} and erasure.notify == ""
    # In an organization of their own alone: that goes too, its invoices and its ledger stay.
    of_organization = Erasure.objects.get(kind="organization")
    assert of_organization.state == JobState.DONE
    records = UsageRecord.objects.filter(organization_id=principal.organization_id)
    assert {record.client_hash for record in records} == {""}
    actions = set(AuditEvent.objects.values_list("action", flat=True))
    assert {"erasure.requested", "erasure.completed"} <= actions


def test_erased_organization_leaves_accounts_and_invoices() -> None:
    owner = member()
    organization = Organization.objects.get(pk=owner.organization_id)
    colleague = member(organization=organization, role="admin")
    furnish(owner)
    now = timezone.now()
    Invoice.objects.create(
        organization=organization,
        number=1,
        status="open",
        period_start=now,
        period_end=now,
        currency="USD",
        subtotal=1,
        tax_rate=0,
        tax=0,
        total=1,
        customer={"name": "ACME"},
    )
    with pytest.raises(PermissionDenied):
        own_organization_erase(principal=colleague)
    own_organization_erase(principal=owner)
    with pytest.raises(Conflict):
        organization_erase(organization_id=organization.pk)
    jobs_run()
    assert Invoice.objects.get(organization=organization).customer == {"name": "ACME"}
    organization.refresh_from_db()
    assert organization.name == "Erased organization"
    for principal in (owner, colleague):
        user = User.objects.get(pk=principal.user_id)
        assert user.is_active
        assert user.memberships.get().organization_id != organization.pk


def test_legal_hold_stops_an_erasure_before_and_after_it_was_asked_for() -> None:
    principal = member()
    furnish(principal)
    hold = legal_hold_begin(reason="Court", user_id=principal.user_id)
    with pytest.raises(LegallyHeld):
        user_erase(user_id=principal.user_id)
    legal_hold_end(hold=hold)
    hold = legal_hold_begin(reason="Court", organization_id=principal.organization_id)
    with pytest.raises(LegallyHeld):  # it would go with its only member
        user_erase(user_id=principal.user_id)
    assert User.objects.get(pk=principal.user_id).is_active
    legal_hold_end(hold=hold)

    erasure = user_erase(user_id=principal.user_id)
    legal_hold_begin(reason="Court", user_id=principal.user_id)
    jobs_run()
    erasure.refresh_from_db()
    assert erasure.state == JobState.HELD
    LegalHold.objects.update(ended_at=timezone.now())
    Erasure.objects.update(claimed_until=None)
    assert jobs_run() == 1
    assert not Conversation.objects.filter(user_id=principal.user_id).exists()
    with pytest.raises(NotFound):
        user_erase(user_id=principal.user_id)


def test_erasure_waits_for_running_answers_and_goes_on_after_a_crash(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    principal = member()
    generation = furnish(principal)
    Generation.objects.filter(pk=generation.pk).update(state="running")
    erasure = user_erase(user_id=principal.user_id)
    assert jobs_run() == 0
    Generation.objects.update(state="completed")
    Erasure.objects.update(claimed_until=None)

    def fails(*args: object) -> None:
        raise OSError("the disk is gone")

    with monkeypatch.context() as broken:
        broken.setattr(erasing, "_blank_admin_log", fails)
        assert jobs_run() == 0
    erasure.refresh_from_db()
    assert erasure.state == JobState.QUEUED
    assert "the disk is gone" in erasure.error
    Erasure.objects.update(claimed_until=None)
    assert jobs_run() == 2
    erasure.refresh_from_db()
    rows = {row["table"]: row["rows"] for row in (erasure.certificate or {})["tables"]}
    assert rows["conversations.Conversation"] == 1  # as counted before the crash


def test_last_owner_of_others_is_not_erased() -> None:
    owner = member()
    MembershipFactory.create(organization_id=owner.organization_id, role="member")
    with pytest.raises(Conflict) as refused:
        user_erase(user_id=owner.user_id)
    assert refused.value.code == "last_owner"
    assert User.objects.get(pk=owner.user_id).is_active
    assert not Erasure.objects.exists()


def test_tables_are_ordered_so_that_files_go_before_rows() -> None:
    order = list(BY_LABEL)
    assert order.index("conversations.Attachment") < order.index("conversations.Conversation")
