"""A text as the trained layers read it, the same in training and in the product."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from safety.read.normalise import Vocabulary, Word, words

_END = re.compile(r"[\n。?]|!(?!\w)|[.;:][^\w\s]{0,8}(?=\s)")
"""Where a sentence may end; not within "3.5"."""


class NormalizedText(NamedTuple):
    """Folded words without their places; every number is the word "0", since none is a hazard.

    Attributes:
        starts: the indices in `words` with which a sentence, or a line, begins.
    """

    words: list[str]
    starts: list[int]


def normalized_words(text: str, vocabulary: Vocabulary) -> list[str]:
    """The words of `text` without where its sentences begin."""
    return _plain(words(text, vocabulary))


def normalized(text: str, vocabulary: Vocabulary) -> NormalizedText:
    """`text` as `normalized_from` gives it."""
    return normalized_from(text, words(text, vocabulary))


def normalized_from(text: str, folded: Sequence[Word]) -> NormalizedText:
    """`text` of which `folded` are the words."""
    begins = [word.start for word in folded]
    after = {0}
    for end in _END.finditer(text):
        place = bisect_left(begins, end.end())
        # In "sk!!ng" the marks are letters, in "b. o. m. b." they stand between those of one word.
        if place == 0 or folded[place - 1].end <= end.end():
            after.add(place)
    return NormalizedText(_plain(folded), sorted(after - {len(folded)}))


def _plain(folded: Sequence[Word]) -> list[str]:
    return ["0" if word.text.isdigit() else word.text for word in folded]
