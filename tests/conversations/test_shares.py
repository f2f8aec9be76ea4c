"""Share links show one moment of one branch, to whoever has the token, until revoked."""

import pytest

from backend.conversations.models import Share
from backend.conversations.services import conversation_delete, conversation_restore
from backend.conversations.shares import share_create, share_revoke, shared_get, shares_list
from backend.conversations.turns import turn_create
from backend.platform.errors import Conflict, NotFound
from tests.conversations.test_attachments import upload
from tests.conversations.trees import finished_turns
from tests.factories import MODEL, conversation_of, member

pytestmark = pytest.mark.django_db


@pytest.fixture
def user():
    return member()


def ask(user, conversation, *parts, **where):
    return turn_create(
        principal=user, conversation_id=conversation.id, parts=list(parts), model=MODEL, **where
    )


def test_a_link_shows_the_branch_as_it_was(user):
    conversation = finished_turns(user, 1, title="Gardens")
    share, token = share_create(principal=user, conversation_id=conversation.id)
    ask(user, conversation, {"type": "text", "text": "later, and private"})

    shown = shared_get(token=token)

    assert shown == share
    assert (shown.title, shown.model) == ("Gardens", MODEL)
    assert [(m["role"], m["content"]) for m in shown.snapshot] == [
        ("user", "question 0"),
        ("assistant", "answer 0"),
    ]


def test_other_branches_and_unfinished_answers_are_left_out(user):
    conversation = finished_turns(user, 1)
    ask(user, conversation, {"type": "text", "text": "other branch"}, parent_id=None)

    _, token = share_create(principal=user, conversation_id=conversation.id)

    assert [m["content"] for m in shared_get(token=token).snapshot] == ["other branch"]


def test_files_are_named_and_not_given_away(user):
    conversation = conversation_of(user)
    attachment = upload(user, b"private text", "report.txt")
    ask(user, conversation, {"type": "file", "attachment_id": str(attachment.id)})

    _, token = share_create(principal=user, conversation_id=conversation.id)

    (message,) = shared_get(token=token).snapshot
    assert message["attachments"] == ["report.txt"]
    assert str(attachment.id) not in str(message)
    assert "private text" not in str(message)


def test_the_token_is_not_stored(user):
    conversation = finished_turns(user, 1)
    _, token = share_create(principal=user, conversation_id=conversation.id)

    assert not any(token in str(value) for value in Share.objects.values().get().values())


@pytest.mark.parametrize("token", ["", "x", "a" * 5000, "half \ud83d pair", "null\x00"])
def test_a_made_up_token_leads_nowhere(token):
    with pytest.raises(NotFound):
        shared_get(token=token)


def test_a_revoked_link_leads_nowhere_and_others_still_work(user):
    conversation = finished_turns(user, 1)
    first, first_token = share_create(principal=user, conversation_id=conversation.id)
    second, second_token = share_create(principal=user, conversation_id=conversation.id)

    share_revoke(principal=user, share_id=first.id)

    with pytest.raises(NotFound):
        shared_get(token=first_token)
    assert shared_get(token=second_token) == second
    assert shares_list(principal=user, conversation_id=conversation.id) == [second]
    with pytest.raises(NotFound):
        share_revoke(principal=user, share_id=first.id)


def test_a_link_rests_while_its_conversation_is_deleted(user):
    conversation = finished_turns(user, 1)
    _, token = share_create(principal=user, conversation_id=conversation.id)

    conversation_delete(principal=user, conversation_id=conversation.id)
    with pytest.raises(NotFound):
        shared_get(token=token)

    conversation_restore(principal=user, conversation_id=conversation.id)
    assert shared_get(token=token).snapshot


def test_there_has_to_be_something_to_share(user):
    with pytest.raises(Conflict):
        share_create(principal=user, conversation_id=conversation_of(user).id)
