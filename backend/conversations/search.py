"""Search in one's own conversations: the best first, each with the place that was found.

A conversation is found when its title, or one message, contains every word of the query, in
whatever case and inside of longer words too, as the trigram indexes find it in any script. What is
found is ranked by PostgreSQL's full text search (`ts_rank_cd`), which knows whole words and how
near they stand; a title counts more than a message, and equals stand by their last turn.
"""

import re
from dataclasses import dataclass
from functools import reduce
from operator import and_
from uuid import UUID

from django.contrib.postgres.search import SearchHeadline, SearchQuery, SearchRank, SearchVector
from django.db.models import F, Func, Q, QuerySet, TextField, Value
from django.db.models.functions import Left

from backend.accounts.principal import Principal
from backend.conversations.models import Conversation, Message, MessageStatus
from backend.conversations.selectors import (
    SEARCH_LIMIT,
    ConversationSummary,
    conversations_of,
    messages_of,
    summary_of,
)
from backend.platform.errors import InvalidRequest

MAX_WORDS = 20
MAX_FOUND = 50
# The newest messages that are ranked; PostgreSQL's limit for a text is 1 MB of words.
_MAX_CANDIDATES = 400
_MAX_RANKED_CHARACTERS = 100_000
# Private-use characters mark the found words, and are taken out of the text before. Two stand in
# for angle brackets, since ts_headline leaves out what looks like a tag.
_START, _STOP, _OPEN, _CLOSE = _MARKS = "\ue010\ue011\ue012\ue013"
_AROUND = 80


@dataclass(frozen=True, slots=True)
class ExcerptPart:
    """Text of a message as it was written: never markup. `hit`: it is what was looked for."""

    text: str
    hit: bool


@dataclass(frozen=True, slots=True)
class Found:
    """Attributes:
    message_id: the best message; None where only the title has the words.
    excerpt: the place in that message.
    """

    conversation: ConversationSummary
    message_id: UUID | None
    excerpt: list[ExcerptPart]


def conversations_search(*, principal: Principal, query: str, limit: int = 20) -> list[Found]:
    """The caller's conversations that have every word, the best first; archived, deleted and
    temporary ones are left out.

    Raises:
        InvalidRequest: with `param`: no word, over 20 words or 200 characters, a null character.
    """
    words = _words(query)
    limit = max(1, min(limit, MAX_FOUND))
    shown = conversations_of(principal).filter(archived_at=None, is_temporary=False)
    ranks, messages = _ranked_messages(principal, shown, words, query)
    by_title = shown.filter(_contains("title", words)).order_by("-updated_at")[:MAX_FOUND]
    for conversation_id in by_title.values_list("pk", flat=True):
        ranks[conversation_id] = ranks.get(conversation_id, 0.0) + 1.0
    rows = sorted(
        shown.filter(pk__in=ranks), key=lambda row: (ranks[row.pk], row.updated_at), reverse=True
    )[:limit]
    best = {row.pk: messages[row.pk] for row in rows if row.pk in messages}
    excerpts = _excerpts(list(best.values()), words, query)
    generating = _generating(rows)
    return [
        Found(
            summary_of(row, generating=row.pk in generating),
            best.get(row.pk),
            excerpts.get(best.get(row.pk), []),
        )
        for row in rows
    ]


def _generating(rows: list[Conversation]) -> set[UUID]:
    pending = Message.objects.filter(conversation__in=rows, status=MessageStatus.PENDING)
    return set(pending.values_list("conversation_id", flat=True))


def _words(query: str) -> list[str]:
    words = query.split()
    if not words or len(query) > SEARCH_LIMIT or len(words) > MAX_WORDS or "\x00" in query:
        raise InvalidRequest(
            f"query must be 1 to {MAX_WORDS} words of at most {SEARCH_LIMIT} characters together,"
            " without null characters.",
            param="query",
        )
    return words


def _contains(field: str, words: list[str]) -> Q:
    return reduce(and_, (Q(**{f"{field}__icontains": word}) for word in words))


def _ranked_messages(
    principal: Principal, shown: QuerySet[Conversation], words: list[str], query: str
) -> tuple[dict[UUID, float], dict[UUID, UUID]]:
    """By conversation: the rank of its best message, from 0 to 1, and that message."""
    newest = (
        messages_of(principal)
        .filter(_contains("text", words), conversation__in=shown)
        .order_by("-created_at")[:_MAX_CANDIDATES]
    )
    vector = SearchVector(Left("text", _MAX_RANKED_CHARACTERS), config="simple")
    # 32: rank / (rank + 1), so that a title, which adds 1, comes first.
    rank = SearchRank(vector, _query(query), cover_density=True, normalization=Value(32))
    rows = (
        Message.objects.filter(pk__in=list(newest.values_list("pk", flat=True)))
        .annotate(rank=rank)
        .order_by("rank", "created_at")
        .values_list("conversation_id", "pk", "rank")
    )
    ranks: dict[UUID, float] = {}
    messages: dict[UUID, UUID] = {}
    for conversation_id, message_id, found in rows:  # the best of each comes last
        ranks[conversation_id] = float(found)
        messages[conversation_id] = message_id
    return ranks, messages


def _excerpts(
    ids: list[UUID], words: list[str], query: str
) -> dict[UUID | None, list[ExcerptPart]]:
    """The place of each message; found by whole words, else by the first word's letters."""
    kept = Value(_OPEN + _CLOSE)
    unmarked = Func(
        F("text"), Value("<>" + _MARKS), kept, function="translate", output_field=TextField()
    )
    headline = SearchHeadline(
        Left(unmarked, _MAX_RANKED_CHARACTERS),
        _query(query),
        config="simple",
        start_sel=_START,
        stop_sel=_STOP,
        max_words=30,
        min_words=12,
    )
    rows = Message.objects.filter(pk__in=ids).annotate(headline=headline)
    return {
        row.pk: _parts(row.headline) if _START in row.headline else _around(row.text, words)
        for row in rows.only("pk", "text")
    }


def _query(query: str) -> SearchQuery:
    return SearchQuery(query, config="simple")


def _parts(headline: str) -> list[ExcerptPart]:
    text = headline.replace(_OPEN, "<").replace(_CLOSE, ">")
    parts = re.split(f"{_START}([^{_START}{_STOP}]*){_STOP}", text)
    return [ExcerptPart(part, index % 2 == 1) for index, part in enumerate(parts) if part]


def _around(text: str, words: list[str]) -> list[ExcerptPart]:
    place = re.search(re.escape(words[0]), text, re.IGNORECASE)
    start, end = place.span() if place else (0, 0)
    parts = [
        ExcerptPart(text[max(0, start - _AROUND) : start], False),
        ExcerptPart(text[start:end], True),
        ExcerptPart(text[end : end + _AROUND], False),
    ]
    return [part for part in parts if part.text]
