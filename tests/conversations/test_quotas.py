"""A plan bounds the conversations and the attachments of a person."""

from io import BytesIO

import pytest
from django.core.files.storage import default_storage

from backend.accounts.models import Plan
from backend.conversations.attachments import attachment_create
from backend.conversations.imports import conversations_import
from backend.conversations.models import Attachment, Conversation
from backend.conversations.services import conversation_create
from backend.platform.errors import InsufficientQuota
from tests.factories import MODEL, conversation_of, member

pytestmark = pytest.mark.django_db


def test_plan_bounds_conversations_of_person():
    Plan.objects.update(conversations=2)
    principal, other = member(), member()
    for _ in range(2):
        conversation_create(principal=principal, model=MODEL)
    with pytest.raises(InsufficientQuota) as refusal:
        conversation_create(principal=principal, model=MODEL)
    assert refusal.value.code == "too_many_conversations"
    conversation_create(principal=other, model=MODEL)
    Plan.objects.update(conversations=None)
    conversation_create(principal=principal, model=MODEL)


def test_import_takes_as_many_chats_as_plan_allows():
    Plan.objects.update(conversations=2)
    principal = member()
    said = {"id": "m", "role": "user", "text": "Hello"}
    chats = [{"id": f"chat-{n}", "title": f"Chat {n}", "messages": [said]} for n in range(3)]
    result = conversations_import(
        principal=principal, chats=chats, model=MODEL, refuse=lambda caller, text: None
    )
    assert result.imported == 2
    assert [place for place, _ in result.refused] == [2]
    assert Conversation.objects.filter(user_id=principal.user_id).count() == 2


def test_plan_bounds_attached_bytes_of_person(tmp_path, settings):
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": tmp_path},
        },
    }
    Plan.objects.update(attachment_bytes=10)
    principal = member()
    conversation_of(principal)
    attachment_create(principal=principal, filename="a.txt", file=BytesIO(b"123456"))
    with pytest.raises(InsufficientQuota) as refusal:
        attachment_create(principal=principal, filename="b.txt", file=BytesIO(b"12345"))
    assert refusal.value.code == "attachment_storage_exceeded"
    attachment_create(principal=principal, filename="c.txt", file=BytesIO(b"1234"))
    names = list(Attachment.objects.values_list("file", flat=True))
    assert all(default_storage.exists(name) for name in names)
    stored = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(stored) == len(names) == 2
