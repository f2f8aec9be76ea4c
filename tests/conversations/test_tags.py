"""Tags: a person's own words for their conversations, and for nobody else's."""

from datetime import timedelta

import pytest
from django.utils import timezone

from backend.accounts.models import Organization
from backend.conversations.selectors import conversations_list
from backend.conversations.services import conversation_update
from backend.conversations.tags import MAX_TAG_LENGTH, TagCount, tags_list
from backend.platform.errors import InvalidRequest, NotFound
from tests.factories import conversation_of, member

pytestmark = pytest.mark.django_db


@pytest.fixture
def user():
    return member()


def tag(principal, *tags, **fields):
    row = conversation_of(principal, **fields)
    return conversation_update(principal=principal, conversation_id=row.id, tags=tags)


def titles(principal, wanted, **options):
    page = conversations_list(principal=principal, tag=wanted, **options)
    return [item.title for item in page.items]


def test_conversations_are_listed_by_tag_and_tags_by_use(user):
    now = timezone.now()
    tag(user, "work", "Überblick", title="a", updated_at=now)
    tag(user, "work", title="b", updated_at=now - timedelta(days=1))
    tag(user, "play", title="c")
    assert titles(user, "work") == ["a", "b"]
    assert titles(user, "work", search="b") == ["b"]
    assert titles(user, "wor") == []
    assert tags_list(principal=user) == [
        TagCount("work", 2),
        TagCount("play", 1),
        TagCount("Überblick", 1),
    ]


def test_tags_are_kept_tidy_and_replaced_as_a_whole(user):
    row = tag(user, "  deep   work ", "Deep Work", "b")
    assert row.tags == ["deep work", "b"]
    change = {"principal": user, "conversation_id": row.id}
    assert conversation_update(**change, title="Other").tags == ["deep work", "b"]
    assert conversation_update(**change, tags=[]).tags == []
    assert tags_list(principal=user) == []


@pytest.mark.parametrize(
    "tags",
    [[""], ["  "], ["x" * (MAX_TAG_LENGTH + 1)], ["a,b"], ["a\x00b"], [str(n) for n in range(11)]],
)
def test_invalid_tags_are_refused(user, tags):
    row = tag(user, "kept")
    with pytest.raises(InvalidRequest) as refused:
        conversation_update(principal=user, conversation_id=row.id, tags=tags)
    assert refused.value.param == "tags"
    row.refresh_from_db()
    assert row.tags == ["kept"]


def test_tags_of_colleagues_and_other_organizations_are_not_seen(user):
    colleague = member(organization=Organization.objects.get(pk=user.organization_id))
    foreign = [tag(other, "secret", title="secret") for other in (colleague, member())]
    assert tags_list(principal=user) == []
    assert titles(user, "secret") == []
    for row in foreign:
        with pytest.raises(NotFound):
            conversation_update(principal=user, conversation_id=row.id, tags=["intruding"])


def test_archived_deleted_and_temporary_conversations_do_not_count(user):
    now = timezone.now()
    for fields in ({"archived_at": now}, {"deleted_at": now}, {"is_temporary": True}):
        conversation_of(user, tags=["away"], **fields)
    assert tags_list(principal=user) == []
