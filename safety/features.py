"""The words of a text as the trained layers read them, the same in training and in the product."""

from collections.abc import Iterable

from safety.normalise import Vocabulary, Word, words


def spoken_words(text: str, vocabulary: Vocabulary) -> list[str]:
    """The folded words of `text` as `spoken_of` gives them."""
    return spoken_of(words(text, vocabulary))


def spoken_of(folded: Iterable[Word]) -> list[str]:
    """Folded words without their places; digits become one word, numbers carry no hazard."""
    return ["0" if word.text.isdigit() else word.text for word in folded]
