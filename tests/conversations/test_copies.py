"""A shared chat goes on as the reader's own."""

from datetime import timedelta

import pytest
from django.utils import timezone

from backend.conversations import shares
from backend.conversations.copies import share_copy
from backend.conversations.models import Conversation, Message, Share
from backend.conversations.selectors import branch_get
from backend.platform.errors import NotFound
from tests.conversations.message_trees import finished_turns
from tests.factories import MODEL, member

pytestmark = pytest.mark.django_db


@pytest.fixture
def author():
    return member()


@pytest.fixture
def link(author):
    row = finished_turns(author, 3, title="Soup", instructions="Be my secret", tags=["mine"])
    share, token = shares.share_create(principal=author, conversation_id=row.id)
    return share, token


def test_copy_is_the_readers_own_and_has_what_the_link_shows(author, link):
    _, token = link
    reader = member()
    copy = share_copy(principal=reader, token=token, model=MODEL)
    assert (copy.organization_id, copy.user_id) == (reader.organization_id, reader.user_id)
    assert (copy.title, copy.instructions, copy.tags) == ("Soup", "", [])
    shown = branch_get(principal=reader, conversation_id=copy.id).messages
    assert [one.message.text for one in shown] == [
        text for turn in range(3) for text in (f"prompt {turn}", f"answer {turn}")
    ]
    Message.objects.filter(conversation=copy).update(text="changed")
    original = Conversation.objects.get(user_id=author.user_id)
    assert not original.messages.filter(text="changed").exists()
    with pytest.raises(NotFound):
        branch_get(principal=author, conversation_id=copy.id)


def test_copy_stays_when_the_link_ends(author, link):
    share, token = link
    reader = member()
    copy = share_copy(principal=reader, token=token, model=MODEL)
    shares.share_revoke(principal=author, share_id=share.id)
    assert branch_get(principal=reader, conversation_id=copy.id).messages


@pytest.mark.parametrize("end", ["revoked", "expired", "forbidden", "unknown"])
def test_link_that_leads_nowhere_is_not_copied(author, link, end):
    share, token = link
    if end == "revoked":
        shares.share_revoke(principal=author, share_id=share.id)
    elif end == "expired":
        past = timezone.now() - timedelta(seconds=1)
        Share.objects.filter(pk=share.pk).update(expires_at=past)
    elif end == "forbidden":
        shares.sharing_set(principal=author, is_allowed=False)
    else:
        token = str(share.id)
    reader = member()
    with pytest.raises(NotFound):
        share_copy(principal=reader, token=token, model=MODEL)
    assert not Conversation.objects.filter(user_id=reader.user_id).exists()
