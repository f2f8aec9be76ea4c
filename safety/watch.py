"""What watches the words of an answer go by: the rules, and the trained classifier.

Each watch takes the words in order, says at which word a flagged span is complete and where it
began, and from which word on a span may still be growing. A span always begins at or after
the word from which the watch asked to hold back, at every moment before: that is what lets
`safety.post` promise that nothing flagged was sent.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from safety.answer_model import AnswerModel
from safety.classifier import STRETCH_WORDS, Classifier, by_category
from safety.lexical import RuleBook, RuleTracker
from safety.normalise import Word
from safety.policy import Policy
from safety.taxonomy import Category
from safety.types import Action


@dataclass(frozen=True, slots=True)
class Flagged:
    """The words `first` to `last` (indices, both included) may not be sent."""

    first: int
    last: int
    scores: dict[Category, float]
    layer: str
    signals: tuple[str, ...] = ()


class RuleWatch:
    """The lexical rules that the policy blocks, over a stream of words."""

    def __init__(self, book: RuleBook, policy: Policy) -> None:
        self._book = book
        self._tracker = RuleTracker(
            book,
            "output",
            wanted=lambda rule: (
                policy.judge({rule.category: rule.score}, "output")[0] is Action.BLOCK
            ),
        )
        self._beginnings = book.beginnings(self._tracker.anchors)
        self._recent: deque[str] = deque(maxlen=book.longest_phrase)
        self._count = 0

    def take(self, new: Sequence[Word]) -> Flagged | None:
        """The first rule that `new` completes; of several at one word the widest."""
        overlap = [Word(text, 0, 0) for text in self._recent]
        first_new = self._count
        hits = iter(self._book.hits([*overlap, *new], first_index=first_new - len(overlap)))
        self._recent.extend(word.text for word in new)
        self._count += len(new)
        found: Flagged | None = None
        for hit in hits:
            if found is not None and hit.last > found.last:
                break
            if hit.last < first_new:
                continue
            for match in self._tracker.feed(hit):
                if found is None or match.first < found.first:
                    rule = match.rule
                    scores = {rule.category: rule.score}
                    found = Flagged(match.first, match.last, scores, "lexical", (rule.id,))
        return found

    def open_since(self) -> int | None:
        """The first word from which a match may still grow, or None."""
        anchor = self._tracker.open_since(self._count - 1)
        recent = list(self._recent)
        for back in range(len(recent), 0, -1):
            if " ".join(recent[-back:]) in self._beginnings:
                beginning = self._count - back
                return beginning if anchor is None else min(anchor, beginning)
        return anchor


HOLD_SHARE = 0.6
"""Share of the lowest blocking threshold from which text is held back."""

JUDGE_EVERY = 8
"""Words between two looks at a suspicion by the encoder, which costs far more than the sum."""

MAX_HELD_WORDS = 80
"""A suspicion that has not been confirmed after so many words is dropped."""


class ScoreWatch:
    """The running sum of `safety.answer_model` over the words of one answer.

    Where the sum is high enough to be suspicious, text is held, and the encoder names the
    category, by which the policy decides. The flagged span begins with the word that raised
    suspicion; it ends where the sum falls again, or with the word at which the policy blocks.
    Ordinary words cost three look-ups and are never held.
    """

    def __init__(self, model: AnswerModel, namer: Classifier, policy: Policy) -> None:
        self._model = model
        self._namer = namer
        self._policy = policy
        self._hold_from = _hold_level(model, policy)
        self._recent: deque[str] = deque(maxlen=STRETCH_WORDS)
        self._before2 = self._before = ""
        self._evidence = 0
        self._count = 0
        self._suspected_from: int | None = None

    def take(self, word: Word) -> Flagged | None:
        """Take the next word; a flagged span ends with it."""
        text = "0" if word.text.isdigit() else word.text
        self._evidence = self._model.step(self._evidence, self._before2, self._before, text)
        self._before2, self._before = self._before, text
        self._recent.append(text)
        self._count += 1
        if self._evidence < self._hold_from:
            self._suspected_from = None
            return None
        last = self._count - 1
        if self._suspected_from is None:
            self._suspected_from = last
        if (last - self._suspected_from) % JUDGE_EVERY:
            return None
        if last - self._suspected_from >= MAX_HELD_WORDS:
            self._suspected_from, self._evidence = None, 0
            return None
        scores = self._scores()
        if self._policy.judge(scores, "output")[0] is not Action.BLOCK:
            return None
        return Flagged(self._suspected_from, last, scores, "classifier")

    def _scores(self) -> dict[Category, float]:
        shares = self._namer.categories(list(self._recent))
        return by_category(self._model.score(self._evidence), shares)

    def open_since(self) -> int | None:
        """The first word that may still turn out to be flagged, or None."""
        return self._suspected_from


def _hold_level(model: AnswerModel, policy: Policy) -> int:
    """The sum from which a category that the policy blocks comes near its threshold."""
    blocking = [c for c in Category if policy.judge({c: 1.0}, "output")[0] is Action.BLOCK]
    lowest = min((policy.threshold(c, "output") for c in blocking), default=2.0)
    wanted = HOLD_SHARE * lowest
    return model.level(min(max(wanted, 0.01), 0.99)) if wanted < 1.0 else model.ceiling + 1
