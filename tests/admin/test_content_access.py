"""Nobody of the staff reads what users wrote without a permission, a reason and a record."""

import pytest
from django.db import InternalError, connection, transaction
from django.db.utils import DatabaseError
from django.urls import reverse

from backend.audit.models import AuditEvent
from backend.conversations.models import Attachment, ContentAccess
from safety.audit.models import Review, ReviewReason
from tests.accounts.test_data_policy import retained_text
from tests.conversations.message_trees import finished_turns
from tests.factories import member

pytestmark = pytest.mark.django_db

SECRETS = ("Secret title", "prompt 0", "answer 1")


@pytest.fixture
def conversation():
    user = member()
    row = finished_turns(user, 2, title="Secret title")
    Attachment.objects.create(
        organization_id=user.organization_id,
        user_id=user.user_id,
        conversation=row,
        kind="text",
        filename="Secret title.txt",
        content_type="text/plain",
        size=1,
        file="x",
    )
    return row


def test_retained_text_that_a_reviewer_opens_stands_in_the_organizations_log(client, reviewer):
    principal = member()
    decision = retained_text(principal, days=3)
    review, _ = Review.objects.get_or_create(
        decision=decision, defaults={"reason": ReviewReason.POLICY}
    )
    page = client.get(reverse("admin:audit_review_change", args=[review.pk]))
    assert "what was written" in page.content.decode()
    event = AuditEvent.objects.get(action="content.accessed")
    assert (event.organization_id, event.actor_kind) == (principal.organization_id, "staff")
    assert event.details == {"reason": "review: policy"}


def content_url(conversation):
    return reverse("admin:conversations_conversation_content", args=[conversation.pk])


def pages_about(conversation):
    yield reverse("admin:conversations_conversation_changelist")
    yield reverse("admin:conversations_conversation_change", args=[conversation.pk])
    yield reverse("admin:conversations_conversation_history", args=[conversation.pk])
    yield reverse("admin:conversations_message_changelist")
    for message in conversation.messages.all():
        yield reverse("admin:conversations_message_change", args=[message.pk])


@pytest.mark.parametrize("who", ["superuser", "support", "reviewer", "finance"])
def test_no_ordinary_page_shows_content(client, request, who, conversation):
    request.getfixturevalue(who)
    for url in pages_about(conversation):
        page = client.get(url).content.decode()
        assert not any(secret in page for secret in SECRETS), url


def test_search_does_not_match_content(client, superuser, conversation):
    for model in ("conversation", "message"):
        url = reverse(f"admin:conversations_{model}_changelist")
        found = client.get(url, {"q": "prompt"}).content.decode()
        assert str(conversation.pk) not in found


@pytest.mark.parametrize("who", ["support", "finance"])
def test_content_is_refused_without_the_permission(client, request, who, conversation):
    request.getfixturevalue(who)

    assert client.get(content_url(conversation)).status_code == 403
    answer = client.post(content_url(conversation), {"reason": "I am curious"})

    assert answer.status_code == 403
    assert not ContentAccess.objects.exists()
    change = reverse("admin:conversations_conversation_change", args=[conversation.pk])
    assert content_url(conversation) not in client.get(change).content.decode()


@pytest.mark.parametrize("reason", ["", "  ", "x", "x" * 501])
def test_content_is_refused_without_a_reason(client, reviewer, conversation, reason):
    page = client.post(content_url(conversation), {"reason": reason}).content.decode()

    assert not any(secret in page for secret in SECRETS)
    assert not ContentAccess.objects.exists()


def test_content_is_shown_once_for_a_reason_and_recorded(client, reviewer, conversation):
    asked = client.get(content_url(conversation)).content.decode()
    assert not any(secret in asked for secret in SECRETS)

    shown = client.post(content_url(conversation), {"reason": "Ticket 4711"})

    assert all(secret in shown.content.decode() for secret in SECRETS)
    assert "no-store" in shown.headers["Cache-Control"]
    entry = ContentAccess.objects.get()
    assert (entry.actor, entry.reason) == (reviewer, "Ticket 4711")
    assert entry.conversation_id == conversation.pk
    assert entry.organization_id == conversation.organization_id
    assert entry.request_id == shown.headers["X-Request-Id"]
    client.post(content_url(conversation), {"reason": "Ticket 4712"})
    assert ContentAccess.objects.count() == 2


def test_access_record_outlives_the_conversation(client, reviewer, conversation):
    client.post(content_url(conversation), {"reason": "Ticket 4711"})

    conversation.delete()

    assert ContentAccess.objects.count() == 1


def test_access_record_cannot_be_changed_or_deleted(client, superuser, conversation):
    client.post(content_url(conversation), {"reason": "Ticket 4711"})
    entry = ContentAccess.objects.get()

    for attempt in (
        lambda: ContentAccess.objects.update(reason="nothing"),
        entry.save,
        entry.delete,
        lambda: ContentAccess.objects.all()._raw_delete("default"),
    ):
        with pytest.raises((DatabaseError, InternalError)), transaction.atomic():
            attempt()
    for action in ("change", "delete"):
        url = reverse(f"admin:conversations_contentaccess_{action}", args=[entry.pk])
        assert client.post(url, {"reason": "other", "post": "yes"}).status_code == 403
    with connection.cursor() as cursor:
        cursor.execute("SELECT reason FROM conversations_contentaccess")
        assert cursor.fetchall() == [("Ticket 4711",)]
