"""Share links show one moment of one branch, to whoever has the token, until revoked."""

from base64 import urlsafe_b64decode
from datetime import timedelta

import pytest
from django.utils import timezone

from backend.accounts.models import Membership, Organization, Role, User
from backend.conversations.models import Share
from backend.conversations.services import conversation_delete, conversation_restore
from backend.conversations.shares import (
    DEFAULT_DAYS,
    MAX_DAYS,
    MAX_WORKING_SHARES,
    share_create,
    share_revoke,
    shared_get,
    shares_list,
    shares_page,
    sharing_set,
)
from backend.conversations.turns import turn_create
from backend.platform.errors import Conflict, InvalidRequest, NotFound, PermissionDenied
from tests.conversations.message_trees import finished_turns
from tests.conversations.test_attachments import upload
from tests.factories import MODEL, conversation_of, member

pytestmark = pytest.mark.django_db


@pytest.fixture
def user():
    return member()


def ask(user, conversation, *parts, **where):
    return turn_create(
        principal=user, conversation_id=conversation.id, parts=list(parts), model=MODEL, **where
    )


def test_share_shows_the_branch_as_it_was(user):
    conversation = finished_turns(user, 1, title="Gardens")
    share, token = share_create(principal=user, conversation_id=conversation.id)
    ask(user, conversation, {"type": "text", "text": "later, and private"})

    shown = shared_get(token=token)

    assert shown == share
    assert (shown.title, shown.model) == ("Gardens", MODEL)
    assert [(m["role"], m["content"]) for m in shown.snapshot] == [
        ("user", "prompt 0"),
        ("assistant", "answer 0"),
    ]


def test_share_of_an_unnamed_conversation_is_titled_by_its_first_prompt(user):
    conversation = finished_turns(user, 2, title="")
    _, token = share_create(principal=user, conversation_id=conversation.id)
    assert shared_get(token=token).title == "prompt 0"


def test_share_leaves_out_other_branches_and_unfinished_answers(user):
    conversation = finished_turns(user, 1)
    ask(user, conversation, {"type": "text", "text": "other branch"}, parent_id=None)

    _, token = share_create(principal=user, conversation_id=conversation.id)

    assert [m["content"] for m in shared_get(token=token).snapshot] == ["other branch"]


def test_share_names_files_without_their_content(user):
    conversation = conversation_of(user)
    attachment = upload(user, b"private text", "report.txt")
    ask(user, conversation, {"type": "file", "attachment_id": str(attachment.id)})

    _, token = share_create(principal=user, conversation_id=conversation.id)

    (message,) = shared_get(token=token).snapshot
    assert message["attachments"] == ["report.txt"]
    assert str(attachment.id) not in str(message)
    assert "private text" not in str(message)


def test_share_token_has_192_bits_and_is_not_stored(user):
    conversation = finished_turns(user, 1)
    _, token = share_create(principal=user, conversation_id=conversation.id)

    assert len(urlsafe_b64decode(token)) == 24
    assert not any(token in str(value) for value in Share.objects.values().get().values())


@pytest.mark.parametrize("token", ["", "x", "a" * 5000, "half \ud83d pair", "null\x00"])
def test_share_is_not_found_by_an_unknown_token(token):
    with pytest.raises(NotFound):
        shared_get(token=token)


def test_revoked_share_is_not_found_and_others_are(user):
    conversation = finished_turns(user, 1)
    first, first_token = share_create(principal=user, conversation_id=conversation.id)
    second, second_token = share_create(principal=user, conversation_id=conversation.id)

    share_revoke(principal=user, share_id=first.id)

    with pytest.raises(NotFound):
        shared_get(token=first_token)
    assert shared_get(token=second_token) == second
    assert shares_list(principal=user, conversation_id=conversation.id).items == [second]
    with pytest.raises(NotFound):
        share_revoke(principal=user, share_id=first.id)


def test_share_is_not_found_while_its_conversation_is_deleted(user):
    conversation = finished_turns(user, 1)
    _, token = share_create(principal=user, conversation_id=conversation.id)

    conversation_delete(principal=user, conversation_id=conversation.id)
    with pytest.raises(NotFound):
        shared_get(token=token)

    conversation_restore(principal=user, conversation_id=conversation.id)
    assert shared_get(token=token).snapshot


def test_share_of_an_empty_conversation_is_refused(user):
    with pytest.raises(Conflict):
        share_create(principal=user, conversation_id=conversation_of(user).id)


def shared(principal, **options):
    return share_create(
        principal=principal, conversation_id=finished_turns(principal, 1).id, **options
    )


def colleague_of(user, role=Role.MEMBER):
    return member(organization=Organization.objects.get(pk=user.organization_id), role=role)


def works(token):
    try:
        shared_get(token=token)
    except NotFound:
        return False
    return True


def test_link_expires_after_its_days(user):
    share, token = shared(user, days=7)
    assert abs(share.expires_at - timezone.now() - timedelta(days=7)) < timedelta(minutes=1)
    assert works(token)

    Share.objects.update(expires_at=timezone.now())

    assert not works(token)
    assert shares_page(principal=user).items == []
    assert shares_list(principal=user, conversation_id=share.conversation_id).items == []
    with pytest.raises(NotFound):
        share_revoke(principal=user, share_id=share.id)


def test_link_without_a_wish_works_for_the_default_time(user):
    share, _ = shared(user)
    days = timedelta(days=DEFAULT_DAYS)
    assert abs(share.expires_at - timezone.now() - days) < timedelta(minutes=1)


def test_row_of_the_release_before_expires_too(user):
    """Its processes name no expiry while they are replaced."""
    share, _ = shared(user)
    fields = {f.attname: getattr(share, f.attname) for f in Share._meta.fields}
    del fields["expires_at"], fields["id"]
    older = Share.objects.create(**{**fields, "token_sha256": "0" * 64})
    older.refresh_from_db()
    assert timedelta(days=29) < older.expires_at - timezone.now() < timedelta(days=31)


@pytest.mark.parametrize("days", [0, -1, MAX_DAYS + 1, 10**9])
def test_expiry_beyond_the_bounds_is_refused(user, days):
    with pytest.raises(InvalidRequest, match="1 to 365"):
        shared(user, days=days)
    assert not Share.objects.exists()


def test_links_stop_at_once_when_the_organization_forbids_them(user):
    _, others_token = shared(member())
    _, token = shared(user)
    _, colleagues = shared(colleague_of(user))

    sharing_set(principal=user, is_allowed=False)

    assert not works(token)
    assert not works(colleagues)
    assert works(others_token)
    with pytest.raises(PermissionDenied, match="does not allow"):
        shared(user)

    sharing_set(principal=user, is_allowed=True)
    assert works(token)
    assert shared(user)


@pytest.mark.parametrize("role", [Role.MEMBER, Role.FINANCE])
def test_only_owners_and_admins_forbid_and_see_everybodys(user, role):
    other = colleague_of(user, role)
    with pytest.raises(PermissionDenied):
        sharing_set(principal=other, is_allowed=False)
    with pytest.raises(PermissionDenied):
        shares_page(principal=other, whole_organization=True)
    share, token = shared(user)
    with pytest.raises(NotFound):
        share_revoke(principal=other, share_id=share.id)
    assert works(token)


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN])
def test_owners_and_admins_end_any_link_of_the_organization_and_no_other(user, role):
    share, token = shared(colleague_of(user))
    foreign, foreign_token = shared(member())
    manager = colleague_of(user, role)

    with pytest.raises(NotFound):
        share_revoke(principal=manager, share_id=foreign.id)
    share_revoke(principal=manager, share_id=share.id)

    assert not works(token)
    assert works(foreign_token)


def test_link_stops_when_its_author_leaves_or_is_deactivated(user):
    leaver, deactivated = colleague_of(user), colleague_of(user)
    _, first = shared(leaver)
    _, second = shared(deactivated)

    Membership.objects.filter(user_id=leaver.user_id).delete()
    User.objects.filter(pk=deactivated.user_id).update(is_active=False)

    assert not works(first)
    assert not works(second)


def test_pages_list_each_link_once_newest_first(user):
    mine = [shared(user)[0].id for _ in range(5)]
    theirs = [shared(colleague_of(user))[0].id for _ in range(2)]
    shared(member())
    talk = finished_turns(user, 1).id
    of_talk = [share_create(principal=user, conversation_id=talk)[0].id for _ in range(3)]

    def pages(of=shares_page, **which):
        seen, cursor = [], None
        while True:
            page = of(principal=user, cursor=cursor, limit=2, **which)
            seen += [share.id for share in page.items]
            cursor = page.next_cursor
            if cursor is None:
                return seen

    assert pages(shares_list, conversation_id=talk) == of_talk[::-1]
    assert pages() == [*of_talk[::-1], *mine[::-1]]
    assert pages(whole_organization=True) == [*of_talk[::-1], *theirs[::-1], *mine[::-1]]


@pytest.mark.parametrize("cursor", ["x", "W10", "bnVsbA", "WyJhIiwiYiJd", "é", "=" * 10])
def test_cursor_that_is_not_ours_is_refused(user, cursor):
    with pytest.raises(InvalidRequest, match="cursor"):
        shares_page(principal=user, cursor=cursor)


def test_working_links_of_a_user_are_bounded(user, monkeypatch):
    monkeypatch.setattr("backend.conversations.shares.MAX_WORKING_SHARES", 2)
    assert MAX_WORKING_SHARES > 2
    first, _ = shared(user)
    shared(user)
    with pytest.raises(Conflict, match="working links"):
        shared(user)
    share_revoke(principal=user, share_id=first.id)
    shared(user)


def test_temporary_chat_is_not_shared(user):
    conversation = finished_turns(user, 1)
    conversation.is_temporary = True
    conversation.save()
    with pytest.raises(Conflict, match="temporary"):
        share_create(principal=user, conversation_id=conversation.id)
    assert not Share.objects.exists()


def test_share_names_the_model_that_answered_and_none_where_it_is_not_known(user):
    conversation = finished_turns(user, 1)
    conversation.messages.filter(role="assistant").update(model="answered")
    share, _ = share_create(principal=user, conversation_id=conversation.id)
    assert share.model == "answered"
    conversation.messages.update(model="")
    conversation.imported_id = "from elsewhere"
    conversation.save()
    share, _ = share_create(principal=user, conversation_id=conversation.id)
    assert share.model == ""
