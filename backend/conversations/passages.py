"""Long attached files of a chat: which are read whole, and which passages of the others.

A file is read whole while all of the path take no more than half of the room. Of the others the
passages are read that fit the question: found by words (PostgreSQL's full text, weighed by BM25)
and, where an embedding model is served, by meaning; both scores are summed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection
from django.db.models import Q, Sum
from django.db.models.functions import Length

from backend.conversations.models import Attachment, Message, MessageRole, Passage
from backend.conversations.parts import document_part
from backend.conversations.ranking import combined, weights
from backend.conversations.shared_files import files_noted
from backend.conversations.tree import path_to
from backend.conversations.types import ChatMessage

BYTES_PER_TOKEN = 3
MAX_ROOM = 6_000
"""Tokens of passages for one question: more of them distract a model more than they tell it."""
CANDIDATES = 50


@dataclass(frozen=True, slots=True)
class Reading:
    """How the files of a path are read.

    Attributes:
        searched: those of which only passages are.
        room: tokens that are kept free for them.
        has_passages: there is a place to cite.
    """

    searched: frozenset[UUID]
    room: int
    has_passages: bool

    @property
    def note(self) -> dict[str, Any]:
        """For `Message.sent`; see `reading_of`."""
        noted: dict[str, Any] = {"documents": True} if self.has_passages else {}
        if self.searched:
            noted |= {"searched": sorted(map(str, self.searched)), "room": self.room}
        return noted


@dataclass(frozen=True, slots=True)
class Embedding:
    """What a model makes of a question. `values` has length one."""

    model: str
    values: np.ndarray[Any, np.dtype[np.float32]]


def reading_for(prompt: Message, *, tokens: int, shared: Sequence[UUID] = ()) -> Reading:
    """
    Args:
        tokens: room for the history, its files among it.
        shared: files that the chat reads beside its own, which come first (shared_files.py).
    """
    lengths = _lengths(prompt, tokens=tokens, shared=shared)
    left, searched = tokens // 2, set[UUID]()
    for attachment_id, length in lengths:
        needed = length // BYTES_PER_TOKEN
        if needed <= left:
            left -= needed
        else:
            searched.add(attachment_id)
    room = min(MAX_ROOM, tokens // 3) if searched else 0
    return Reading(frozenset(searched), room, bool(lengths))


def reading_of(sent: Mapping[str, Any]) -> frozenset[UUID]:
    """Which files were searched for an answer, by what is noted of it."""
    return frozenset(UUID(one) for one in sent.get("searched", ()))


def embeddings_missing(answer: Message, *, limit: int) -> list[Passage]:
    """Passages of the files that are searched for `answer` which no model has embedded yet."""
    return list(
        _passages(answer).filter(embedding=None).order_by("attachment_id", "position")[:limit]
    )


def embeddings_store(
    passages: Sequence[Passage], vectors: Sequence[Sequence[float]], *, model: str
) -> None:
    """Keep what `model` made of each, as float16 of length one."""
    for passage, vector in zip(passages, vectors, strict=True):
        passage.embedding = unit(vector).astype(np.float16).tobytes()
        passage.embedding_model = model
    Passage.objects.bulk_update(passages, ["embedding", "embedding_model"], batch_size=200)


def unit(vector: Sequence[float]) -> np.ndarray[Any, np.dtype[np.float32]]:
    values = np.asarray(vector, dtype=np.float32)
    length = float(np.linalg.norm(values))
    return values / length if length else values


def question_of(prompt: Message) -> str:
    """What a person asked: of results of tool calls, the prompt that the calls were made for."""
    while not prompt.text and prompt.parent is not None and prompt.parent.parent is not None:
        prompt = prompt.parent.parent
    return prompt.text


def passages_find(
    answer: Message, question: str, *, embedding: Embedding | None = None, limit: int = CANDIDATES
) -> list[Passage]:
    """The passages of the searched files that fit `question`, the best first."""
    ids = reading_of(answer.sent or {})
    return passages_search(_passages(answer), ids, question, embedding=embedding, limit=limit)


def passages_search(
    among: Any,
    attachment_ids: Iterable[UUID],
    question: str,
    *,
    embedding: Embedding | None = None,
    limit: int = CANDIDATES,
) -> list[Passage]:
    """Passages of `among` (a queryset of those attachments' passages), the best first; where no
    word and no meaning fits, the first ones."""
    by_words = _by_words(list(attachment_ids), question)
    cosines = {} if embedding is None else _cosines(among, embedding)
    best = combined(by_words, cosines)[:limit]
    if not best:
        return list(among.defer("embedding").order_by("attachment_id", "position")[:limit])
    found = {one.pk: one for one in among.filter(pk__in=best).defer("embedding")}
    return [found[pk] for pk in best if pk in found]


def passages_note(answer: Message, best: Sequence[Passage]) -> list[Passage]:
    """Choose of `best` as many as fit into the room that is kept for them, and note them in the
    answer's `sent`. Returns them in the order of their documents."""
    sent = dict(answer.sent or {})
    left, chosen = sent.get("room", 0), list[Passage]()
    for passage in best:
        needed = len(passage.text.encode()) // BYTES_PER_TOKEN + len(passage.place) // 3 + 4
        if needed <= left:
            left -= needed
            chosen.append(passage)
    sent["passages"] = [one.pk for one in chosen]
    Message.objects.filter(pk=answer.pk).update(sent=sent)
    answer.sent = sent
    return _in_order(chosen)


def passages_noted(answer: Message) -> list[Passage]:
    """What `passages_note` chose."""
    ids = (answer.sent or {}).get("passages", [])
    return _in_order(_passages(answer).filter(pk__in=ids).defer("embedding")) if ids else []


def with_passages(history: Sequence[ChatMessage], passages: Sequence[Passage]) -> list[ChatMessage]:
    """`history` with the passages in its last prompt, before what is asked there."""
    if not passages:
        return list(history)
    by_file: dict[UUID, list[Passage]] = {}
    for passage in passages:
        by_file.setdefault(passage.attachment_id, []).append(passage)
    files = Attachment.objects.in_bulk(by_file)
    parts = [document_part(files[one], theirs, whole=False) for one, theirs in by_file.items()]
    at = max(n for n, message in enumerate(history) if message.role == MessageRole.USER)
    asked = history[at]
    return [
        *history[:at],
        ChatMessage(asked.role, [*parts, *asked.parts], asked.name),
        *history[at + 1 :],
    ]


def _passages(answer: Message) -> Any:
    """Of those that are searched."""
    return passages_readable(answer).filter(attachment_id__in=reading_of(answer.sent or {}))


def passages_readable(answer: Message) -> Any:
    """Of files of this conversation, and those of its project and assistant that its person may
    still use, whatever is noted."""
    return Passage.objects.filter(
        Q(attachment__conversation_id=answer.conversation_id)
        | Q(attachment_id__in=list(files_noted(answer.conversation, answer.sent or {})))
    )


def files_attached(prompt: Message, *, tokens: int) -> list[UUID]:
    """Of the path, the newest first."""
    path = path_to(
        conversation_id=prompt.conversation_id,
        leaf_id=prompt.id,
        max_bytes=tokens * BYTES_PER_TOKEN,
    )
    wanted = [
        UUID(part["attachment_id"])
        for message in reversed(path)
        for part in message.content
        if part.get("type") == "file" and "attachment_id" in part
    ]
    return list(dict.fromkeys(wanted))


def _lengths(prompt: Message, *, tokens: int, shared: Sequence[UUID]) -> list[tuple[UUID, int]]:
    """Of attached files that have passages, with their bytes, about; the newest first."""
    rows = (
        Passage.objects.filter(
            Q(attachment__conversation_id=prompt.conversation_id) | Q(attachment_id__in=shared)
        )
        .values_list("attachment_id")
        .annotate(length=Sum(Length("text")))
    )
    lengths = dict(rows)
    if not lengths:  # of most chats: their path, which may be long, is not read for nothing
        return []
    attached = [] if lengths.keys() <= set(shared) else files_attached(prompt, tokens=tokens)
    return [(one, lengths[one]) for one in [*attached, *reversed(shared)] if one in lengths]


def _by_words(attachment_ids: list[UUID], question: str) -> dict[int, float]:
    """Passages with a word of the question, by id: BM25 over the lexemes of PostgreSQL."""
    if not attachment_ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute("SELECT tsvector_to_array(to_tsvector('english', %s))", [question[:10_000]])
        [lexemes] = cursor.fetchone()
        cursor.execute(
            "SELECT count(*), avg(length(search)) FROM conversations_passage"
            " WHERE attachment_id = ANY(%s)",
            [attachment_ids],
        )
        count, average = cursor.fetchone()
        cursor.execute(
            "SELECT p.id, length(p.search), one.lexeme, cardinality(one.positions)"
            " FROM conversations_passage p, unnest(p.search) one"
            " WHERE p.attachment_id = ANY(%s) AND one.lexeme = ANY(%s)",
            [attachment_ids, lexemes],
        )
        found = cursor.fetchall()
    weighed = weights(found, count=count, average=float(average or 1))
    return dict(sorted(weighed.items()))


def _cosines(among: Any, embedding: Embedding) -> dict[int, float]:
    """Of passages that have an embedding, by id: of all, a chat's files have some thousand."""
    rows = list(
        among.filter(embedding_model=embedding.model).values_list("pk", "embedding").order_by("pk")
    )
    if not rows:
        return {}
    kept = np.frombuffer(b"".join(bytes(one) for _, one in rows), dtype=np.float16)
    matrix = kept.reshape(len(rows), -1).astype(np.float32)
    if matrix.shape[1] != len(embedding.values):
        return {}
    cosines = (matrix @ embedding.values).tolist()
    return {pk: cosine for (pk, _), cosine in zip(rows, cosines, strict=True)}


def _in_order(passages: Iterable[Passage]) -> list[Passage]:
    return sorted(passages, key=lambda one: (str(one.attachment_id), one.position))
