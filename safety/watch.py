"""What watches the words of an answer go by: the rules, and the trained classifier.

Each watch takes the words in order, says at which word a flagged span is complete and where it
began, and from which word on a span may still be growing. A span always begins at or after
the word from which the watch asked to hold back, at every moment before: that is what lets
`safety.post` promise that nothing flagged was sent.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from safety.classifier import Classifier
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


CHECK_EVERY = 2
"""Words between two estimates; the words since the last one are held back."""

WINDOW = 48
MIN_WORDS = 6
"""Words after which an estimate means anything; the first ones are the rules' alone, so that
an answer begins at once."""

MAX_HELD_WORDS = 80
"""A suspicion that has not been confirmed after so many words is dropped."""

HOLD_SHARE = 0.6
"""Share of the blocking threshold from which text is held back."""

CONFIRMING_CHECKS = 3
"""Estimates in a row that must pass the threshold: one odd word halts nothing."""


class ScoreWatch:
    """The classifier's estimate of a sliding window.

    Suspicion begins with the words of the first estimate over the holding threshold; the flagged
    span begins there. It ends with an estimate below it, or is confirmed by CONFIRMING_CHECKS
    in a row over the blocking threshold.
    """

    def __init__(self, model: Classifier, policy: Policy) -> None:
        self._model = model
        self._policy = policy
        self._recent: deque[str] = deque(maxlen=WINDOW)
        self._count = 0
        self._unchecked_from = 0
        self._suspected_from: int | None = None
        self._confirmations = 0

    def take(self, word: Word) -> Flagged | None:
        """Take the next word; a confirmed suspicion ends with it."""
        self._recent.append("0" if word.text.isdigit() else word.text)
        self._count += 1
        if self._count < MIN_WORDS:
            self._unchecked_from = self._count
            return None
        if self._count % CHECK_EVERY:
            return None
        estimate = self._model.estimate_words(list(self._recent))
        scores = estimate.scores(estimate.harmful_output)
        scores.pop(Category.PROMPT_INJECTION, None)
        return self._weigh(scores)

    def _weigh(self, scores: dict[Category, float]) -> Flagged | None:
        raised = {c: score / HOLD_SHARE for c, score in scores.items()}
        last = self._count - 1
        if self._policy.judge(raised, "output")[0] is not Action.BLOCK:
            self._suspected_from, self._confirmations = None, 0
        else:
            if self._suspected_from is None:
                self._suspected_from = self._unchecked_from
            blocked = self._policy.judge(scores, "output")[0] is Action.BLOCK
            self._confirmations = self._confirmations + 1 if blocked else 0
            if self._confirmations >= CONFIRMING_CHECKS:
                return Flagged(self._suspected_from, last, scores, "classifier")
            if last - self._suspected_from >= MAX_HELD_WORDS:
                self._suspected_from, self._confirmations = None, 0
        self._unchecked_from = self._count
        return None

    def open_since(self) -> int | None:
        """The first word that may still turn out to be flagged, or None."""
        if self._suspected_from is not None:
            return self._suspected_from
        return self._unchecked_from if self._unchecked_from < self._count else None
