"""What is deleted is gone after thirty days, files too, and not a day before."""

from datetime import timedelta

import pytest
from django.core.files.storage import default_storage
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from backend.accounts.models import DataPolicy, Project
from backend.accounts.projects import project_create
from backend.conversations import purge
from backend.conversations.models import (
    Attachment,
    Conversation,
    Feedback,
    Message,
    Share,
)
from backend.conversations.services import conversation_delete, conversation_restore
from backend.conversations.shares import share_create
from backend.conversations.tasks import purge_deleted
from backend.conversations.turns import turn_create
from tests.conversations.message_trees import finished_turns
from tests.conversations.test_attachments import upload
from tests.factories import MODEL, conversation_of, member

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


@pytest.fixture
def user():
    return member()


def with_file(user):
    """A conversation with everything that can hang on one, and the path of its file."""
    conversation = finished_turns(user, 3)
    attachment = upload(user, b"text")
    Attachment.objects.filter(pk=attachment.pk).update(conversation=conversation)
    Feedback.objects.create(
        message=conversation.messages.get(text="answer 2"), user_id=user.user_id, rating=1
    )
    share_create(principal=user, conversation_id=conversation.id)
    return conversation, attachment.file.name


def test_purge_deletes_rows_and_files_after_thirty_days(user):
    conversation, file = with_file(user)
    kept, kept_file = with_file(user)
    conversation_delete(principal=user, conversation_id=conversation.id)

    assert purge.deleted_conversations_purge(now=timezone.now() + 29 * DAY) == 0
    assert default_storage.exists(file)
    assert purge.deleted_conversations_purge(now=timezone.now() + 31 * DAY) == 1

    assert list(Conversation.objects.all()) == [kept]
    assert not Message.objects.exclude(conversation=kept).exists()
    assert Share.objects.count() == Feedback.objects.count() == Attachment.objects.count() == 1
    assert not default_storage.exists(file)
    assert default_storage.exists(kept_file)


def test_restored_conversation_is_not_purged(user):
    conversation, file = with_file(user)
    conversation_delete(principal=user, conversation_id=conversation.id)
    conversation_restore(principal=user, conversation_id=conversation.id)

    assert purge.deleted_conversations_purge(now=timezone.now() + 99 * DAY) == 0
    assert default_storage.exists(file)


def test_purge_is_finished_by_the_next_run_after_a_crash(user):
    conversation, file = with_file(user)
    conversation_delete(principal=user, conversation_id=conversation.id)
    default_storage.delete(file)

    assert purge.deleted_conversations_purge(now=timezone.now() + 31 * DAY) == 1


def test_purge_waits_when_an_answer_is_being_generated(user):
    conversation = conversation_of(user)
    turn = turn_create(
        principal=user,
        conversation_id=conversation.id,
        parts=[{"type": "text", "text": "hi"}],
        model=MODEL,
    )
    conversation_delete(principal=user, conversation_id=conversation.id)

    assert purge.deleted_conversations_purge(now=timezone.now() + 31 * DAY) == 0
    Message.objects.filter(pk=turn.assistant_message.pk).update(status="cancelled")
    assert purge.deleted_conversations_purge(now=timezone.now() + 31 * DAY) == 1


def test_chats_of_a_project_are_kept_as_long_as_it_says(user):
    """Those of before projects were chosen have none: they are of the default one."""
    default = Project.objects.get(pk=user.project_id)
    project = project_create(principal=user, name="Short")
    chats = {name: conversation_of(user, title=name) for name in ("short", "default", "older")}
    for name, place in (("short", project.pk), ("default", default.pk), ("older", None)):
        Conversation.objects.filter(pk=chats[name].pk).update(project=place)
    Project.objects.filter(pk=project.pk).update(retention_days=1)
    other = conversation_of(member())

    def left() -> set[str]:
        return set(Conversation.objects.values_list("title", flat=True)) - {other.title}

    assert purge.overdue_conversations_purge(now=timezone.now() + 2 * DAY) == 1
    assert left() == {"default", "older"}
    Project.objects.filter(pk=default.pk).update(retention_days=1)
    assert purge.overdue_conversations_purge(now=timezone.now() + 2 * DAY) == 2
    assert list(Conversation.objects.all()) == [other]


def test_unused_uploads_are_purged_after_a_day(user):
    unused = upload(user, b"unused")
    _, used = with_file(user)

    assert purge.unused_uploads_purge() == 0
    assert purge.unused_uploads_purge(now=timezone.now() + 2 * DAY) == 1

    assert not default_storage.exists(unused.file.name)
    assert default_storage.exists(used)


def test_hourly_task_purges_conversations_and_uploads(user):
    conversation, _ = with_file(user)
    upload(user, b"unused")
    Conversation.objects.update(deleted_at=timezone.now() - 31 * DAY)
    Attachment.objects.update(created_at=timezone.now() - 31 * DAY)

    assert purge_deleted() == {"conversations": 1, "uploads": 1}
    assert purge_deleted() == {"conversations": 0, "uploads": 0}
    assert not Conversation.objects.filter(pk=conversation.pk).exists()


def test_purges_find_what_is_due_by_an_index(user):
    """Not by reading every conversation, each minute."""
    project = Project.objects.get(organization_id=user.organization_id, is_default=True)
    Project.objects.filter(pk=project.pk).update(retention_days=30)
    DataPolicy.objects.create(organization_id=user.organization_id, retention_days=90)
    with connection.cursor() as cursor, CaptureQueriesContext(connection) as queries:
        cursor.execute("SET LOCAL enable_seqscan = off")
        purge.overdue_conversations_purge()
        purge.temporary_conversations_purge()
        reads = [q["sql"] for q in queries if q["sql"].startswith("SELECT")]
        plans = [_plan(cursor, sql) for sql in reads if 'FROM "conversations_conversation"' in sql]
    assert len(plans) == 4
    assert not any("Seq Scan on conversations_conversation" in plan for plan in plans), plans


def _plan(cursor, sql: str) -> str:
    cursor.execute(f"EXPLAIN {sql}".replace("%", "%%"))
    return "\n".join(row for (row,) in cursor.fetchall())
