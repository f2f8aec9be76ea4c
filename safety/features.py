"""The words of a text as the trained layers read them, the same in training and in the product."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from safety.normalise import Vocabulary, Word, words

_ENDS = frozenset(".!?;:")
_ENDS_ANYWHERE = frozenset("\n。!?")
_ALL_ENDS = _ENDS | _ENDS_ANYWHERE


class Spoken(NamedTuple):
    """Folded words without their places; digits become one word, numbers carry no hazard.

    Attributes:
        starts: the indices in `words` with which a sentence, or a line, begins.
    """

    words: list[str]
    starts: list[int]


def spoken_words(text: str, vocabulary: Vocabulary) -> list[str]:
    """The words of `text` alone."""
    return _plain(words(text, vocabulary))


def spoken(text: str, vocabulary: Vocabulary) -> Spoken:
    """`text` as `spoken_of` gives it."""
    return spoken_of(text, words(text, vocabulary))


def spoken_of(text: str, folded: Sequence[Word]) -> Spoken:
    """What was said in `text`, of which `folded` are the words."""
    starts = [index for index, pair in enumerate(pairwise(folded), 1) if _parted(text, *pair)]
    return Spoken(_plain(folded), [0, *starts] if folded else [])


def _plain(folded: Sequence[Word]) -> list[str]:
    return ["0" if word.text.isdigit() else word.text for word in folded]


def _parted(text: str, word: Word, following: Word) -> bool:
    """Whether a sentence ends between two words: "3.5 of them" is one, "It rains. Go" two."""
    between = text[word.end - 1 : following.start]  # an exclamation mark is read as part of a word
    if len(between) == 2 and between[1] == " " and between[0] not in _ALL_ENDS:
        return False
    if not _ENDS_ANYWHERE.isdisjoint(between):
        return True
    return not _ENDS.isdisjoint(between) and any(map(str.isspace, between))
