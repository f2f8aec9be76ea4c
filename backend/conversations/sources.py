"""What an answer was written from: the places in attached files that its model read, and where the
answer cites them, `[lease.pdf, page 3]`."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

from backend.accounts.principal import Principal
from backend.conversations.models import Attachment, Message, Passage
from backend.conversations.passages import (
    files_attached,
    passages_noted,
    passages_readable,
    reading_of,
)
from backend.conversations.selectors import message_get
from backend.conversations.shared_files import files_noted

_BRACKETED = re.compile(r"\[([^\[\]\n]{1,600})\]")


@dataclass(frozen=True, slots=True)
class Source:
    """A place that a model was given to read.

    Attributes:
        text: all that was read there.
        cited_as: what stands between square brackets where the answer names it.
    """

    attachment_id: UUID
    filename: str
    place: str
    text: str
    cited_as: list[str]

    @property
    def cited(self) -> bool:
        return bool(self.cited_as)


def sources_get(*, principal: Principal, message_id: UUID) -> list[Source]:
    """The places that were found for an answer, and of files that were read whole those that it
    cites: the cited ones in the order of the answer, then the others, the best first.

    Raises:
        NotFound: the message.
    """
    answer = message_get(principal=principal, message_id=message_id)
    sent, prompt = answer.sent or {}, answer.parent
    if prompt is None or not sent.get("documents"):
        return []
    attached = files_attached(prompt, tokens=sent["tokens"])
    attached += files_noted(answer.conversation, sent)
    names = {one.pk: one.filename for one in Attachment.objects.filter(pk__in=attached)}
    citations = _Citations(answer.text, alone=len(names) == 1)
    given = list(sent.get("passages", ()))
    ranks = {pk: rank for rank, pk in enumerate(given)}
    found: list[tuple[int, int, Source]] = []
    for passages in _by_place(_passages_read(answer, attached)):
        first, rank = passages[0], min(ranks.get(one.pk, len(given)) for one in passages)
        name = names.get(first.attachment_id, "")
        cited_at, cited_as = citations.of(name, first.place) if name else (0, [])
        if name and (cited_as or rank < len(given)):
            text = "\n\n".join(one.text for one in passages)
            source = Source(first.attachment_id, name, first.place, text, cited_as)
            found.append((0 if cited_as else 1, cited_at if cited_as else rank, source))
    return [source for *_, source in sorted(found, key=lambda one: one[:2])]


class _Citations:
    """What stands between square brackets in an answer: [lease.pdf, page 3; page 4]."""

    def __init__(self, text: str, *, alone: bool) -> None:
        """`alone`: there is one file, so that its places need no name beside them."""
        self._said = [(found.start(), found[1]) for found in _BRACKETED.finditer(text)]
        self._alone = alone

    def of(self, filename: str, place: str) -> tuple[int, list[str]]:
        """Where in the answer the place is first cited, and each way in which it is."""
        filename, place = filename.casefold(), place.casefold()
        pattern = re.compile(rf"(?<!\w){re.escape(place)}(?!\w)")
        naming = [
            (at + found.start(), said)
            for at, said in self._said
            if place and (self._alone or filename in said.casefold())
            if (found := pattern.search(said.casefold()))
        ]
        first = naming[0][0] if naming else 0
        return first, list(dict.fromkeys(said for _, said in naming))


def _passages_read(answer: Message, attached: list[UUID]) -> Iterable[Passage]:
    """All that may have been read: what was found, and files that were read whole."""
    searched = reading_of(answer.sent or {})
    whole = [one for one in attached if one not in searched]
    noted = [one.pk for one in passages_noted(answer)]
    return (
        passages_readable(answer)
        .filter(Q(pk__in=noted) | Q(attachment_id__in=whole))
        .defer("embedding")
        .order_by("attachment_id", "position")
    )


def _by_place(passages: Iterable[Passage]) -> list[list[Passage]]:
    """A long page is several passages; one without a place is a place of its own."""
    places: dict[tuple[UUID, str], list[Passage]] = {}
    for passage in passages:
        place = passage.place or f"#{passage.pk}"
        places.setdefault((passage.attachment_id, place), []).append(passage)
    return list(places.values())
