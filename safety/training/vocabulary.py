"""The words that folding may read a disguised spelling as."""

from collections import Counter
from collections.abc import Sequence

from safety.score.features import normalized_words
from safety.score.rules import rule_book
from safety.training.example import Example
from safety.training.minilm import whole_words

FREQUENT = 8_000
"""Of MiniLM's whole words, which are ordered roughly by frequency."""


def vocabulary_for(examples: Sequence[Example]) -> list[str]:
    """The rules' words, frequent English ones, and those that three of `examples` share."""
    rules = rule_book().vocabulary
    counts: Counter[str] = Counter()
    for example in examples:
        if example.group.startswith("ordinary_answers"):
            continue  # a model disguises nothing
        counts.update(set(normalized_words(example.text[:2500], rules)))
    common = {word for word, count in counts.items() if count >= 3 and 1 < len(word) < 24}
    return sorted(common | set(whole_words()[:FREQUENT]) | {"0", "a", "i"} | set(rules.words()))
