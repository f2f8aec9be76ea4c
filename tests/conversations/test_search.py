"""Ranked search: the best first, with the place that was found, and nothing of anyone else's."""

from datetime import timedelta

import pytest
from django.utils import timezone

from backend.accounts.models import Organization
from backend.conversations.search import conversations_search
from backend.conversations.selectors import SEARCH_LIMIT
from backend.platform.errors import InvalidRequest
from tests.factories import MessageFactory, conversation_of, member

pytestmark = pytest.mark.django_db


@pytest.fixture
def user():
    return member()


def said(principal, text, title="A chat", days=0, **fields):
    updated_at = timezone.now() - timedelta(days=days)
    row = conversation_of(principal, title=title, updated_at=updated_at, **fields)
    return MessageFactory.create(conversation=row, text=text)


def titles(principal, query, **options):
    found = conversations_search(principal=principal, query=query, **options)
    return [one.conversation.title for one in found]


def excerpt(principal, query):
    [found] = conversations_search(principal=principal, query=query)
    return "".join(part.text for part in found.excerpt), [p.text for p in found.excerpt if p.hit]


def test_best_is_first_whatever_its_age(user):
    said(user, "The stone was hard. " * 3 + "A sourdough later: starter.", "Once, far apart")
    said(user, "A sourdough starter, and a sourdough starter again.", "Twice, together", days=9)
    said(user, "Something else", "Sourdough starter", days=20)
    said(user, "Only a sourdough.", "Half of it")
    assert titles(user, "sourdough starter") == [
        "Sourdough starter",
        "Twice, together",
        "Once, far apart",
    ]
    assert titles(user, "STARTER sourdough", limit=1) == ["Sourdough starter"]


def test_equals_stand_by_their_last_turn(user):
    for days in (3, 1, 2):
        said(user, "the same words", f"{days} days ago", days=days)
    assert titles(user, "same words") == ["1 days ago", "2 days ago", "3 days ago"]


def test_best_message_of_a_conversation_is_shown(user):
    first = said(user, "heron " + "and much else " * 40)
    best = MessageFactory.create(conversation=first.conversation, text="heron heron heron")
    [found] = conversations_search(principal=user, query="heron")
    assert found.message_id == best.id


@pytest.mark.parametrize(
    ("query", "hits"),
    [("kangaroo", ["Kangaroo"]), ("roo jump", ["roo"]), ("日本", ["日本"]), ("50%", ["50"])],
)
def test_words_and_parts_of_words_are_found_in_any_script(user, query, hits):
    said(user, "A Kangaroo jumps. 私は日本に行きます。 It is 50% of it.")
    assert excerpt(user, query)[1][:1] == hits


def test_excerpt_is_text_around_the_words_and_never_markup(user):
    hostile = (
        '<b>x</b> <script>alert(1)</script> heron & <img src=x onerror="alert(1)"> \ue010y\ue011'
    )
    said(user, "before " * 500 + hostile + " after" * 500)
    text, hits = excerpt(user, "heron")
    assert hits == ["heron"]
    assert len(text) < 500
    assert 'heron & <img src=x onerror="alert(1)"> y' in text


def test_message_of_any_length_is_searched(user):
    said(user, "word " * 150_000 + "zebra")
    assert excerpt(user, "zebra")[1] == ["zebra"]


@pytest.mark.parametrize("query", [" ", "x" * (SEARCH_LIMIT + 1), "a\x00b", "a " * 21])
def test_invalid_query_is_refused(user, query):
    with pytest.raises(InvalidRequest) as refused:
        conversations_search(principal=user, query=query)
    assert refused.value.param == "query"


@pytest.mark.parametrize("query", ["%", "a & | !b", "':*", "\\", "(((", "<->"])
def test_operators_are_letters(user, query):
    said(user, "plain words")
    assert titles(user, query) == []


def test_colleagues_other_organizations_and_what_is_put_away_are_not_found(user):
    colleague = member(organization=Organization.objects.get(pk=user.organization_id))
    for other in (colleague, member()):
        said(other, "the secret heron", "secret heron")
    now = timezone.now()
    said(user, "secret heron", "secret heron", archived_at=now)
    said(user, "secret heron", "secret heron", deleted_at=now)
    said(user, "secret heron", "secret heron", is_temporary=True)
    assert titles(user, "secret heron") == []
    assert titles(colleague, "secret heron") == ["secret heron"]
