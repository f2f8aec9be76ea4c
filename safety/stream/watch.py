"""What watches the words of an answer go by: the rules, and the trained classifier.

Each watch takes the words in order, says at which word a flagged span is complete and where it
began, and from which word on a span may still be growing. A span always begins at or after
the word from which the watch asked to hold back, at every moment before: that is what lets
`safety.stream.post` promise that nothing flagged was sent.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from safety.judge.policy import STANDARD_THRESHOLD, Policy
from safety.read.normalise import Word
from safety.score.answer_model import AnswerModel, verifier_scores
from safety.score.classifier import Classifier
from safety.score.rules import RuleBook, RuleTracker
from safety.score.screens import WINDOW_WORDS
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
        self._first_letters = book.first_letters(self._tracker.anchors)
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

    def may_begin_with(self, letters: str) -> bool:
        """Whether a match may begin with a word that begins with these folded letters."""
        return letters in self._first_letters

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
"""Share of the cheap score at which the verifier is asked, from which text is held back."""

MAX_HELD_WORDS = 40
"""After so many words the verifier is asked, whatever the cheap score."""

UNCERTAIN_PROMPT_FROM = 0.3
"""The verifier's score that counts as `STANDARD_THRESHOLD` in an answer to an uncertain prompt."""

UNCERTAIN_PROMPT_SIGNAL = "doubtful_question"
"""Stored with decisions, so it keeps the name that old rows have."""


class ScoreWatch:
    """The cheap score and the verifier of `safety.score.answer_model` over one answer's words.

    Where the cheap score is high, text is held; where it is higher, the verifier is asked about the
    last words, and the policy decides about its score. The flagged span begins with the first held
    word and ends with the word at which the policy blocks. Where the policy does not, the cheap
    score begins anew at zero. Ordinary words cost three look-ups and are not held.
    """

    def __init__(
        self,
        model: AnswerModel,
        classifier: Classifier,
        policy: Policy,
        prompt_is_uncertain: Callable[[], bool],
    ) -> None:
        """`prompt_is_uncertain` is called only where that decides."""
        self._model = model
        self._classifier = classifier
        self._policy = policy
        self._prompt_is_uncertain = prompt_is_uncertain
        self._hold_from = int(HOLD_SHARE * model.verify_from) if _blocks_any(policy) else None
        self._recent: deque[str] = deque(maxlen=WINDOW_WORDS)
        self._before2 = self._before = ""
        self._cheap_score = 0
        self._count = 0
        self._held_from: int | None = None

    def take(self, word: Word) -> Flagged | None:
        """Take the next word; a flagged span ends with it."""
        if self._hold_from is None:
            return None
        text = "0" if word.text.isdigit() else word.text
        self._cheap_score = self._model.step(self._cheap_score, self._before2, self._before, text)
        self._before2, self._before = self._before, text
        self._recent.append(text)
        last, self._count = self._count, self._count + 1
        if self._cheap_score < self._hold_from:
            self._held_from = None
            return None
        if self._held_from is None:
            self._held_from = last
        held = last - self._held_from
        if self._cheap_score < self._model.verify_from and held < MAX_HELD_WORDS:
            return None
        scores = verifier_scores(self._recent, self._model, self._classifier)
        if self._blocks(scores):
            return Flagged(self._held_from, last, scores, "classifier")
        raised = raised_for_uncertain_prompt(scores)
        if self._blocks(raised) and self._prompt_is_uncertain():
            signals = (UNCERTAIN_PROMPT_SIGNAL,)
            return Flagged(self._held_from, last, raised, "classifier", signals)
        self._held_from, self._cheap_score = None, 0
        return None

    def _blocks(self, scores: dict[Category, float]) -> bool:
        return self._policy.judge(scores, "output")[0] is Action.BLOCK

    def open_since(self) -> int | None:
        """The first word that may still turn out to be flagged, or None."""
        return self._held_from


def raised_for_uncertain_prompt(scores: Mapping[Category, float]) -> dict[Category, float]:
    """An answer's scores on the scale of answers to an uncertain prompt: `UNCERTAIN_PROMPT_FROM`
    becomes `STANDARD_THRESHOLD`, 0 and 1 stay, linear in between."""
    known, meant = (0.0, UNCERTAIN_PROMPT_FROM, 1.0), (0.0, STANDARD_THRESHOLD, 1.0)
    return {c: float(np.interp(score, known, meant)) for c, score in scores.items()}


def _blocks_any(policy: Policy) -> bool:
    return any(policy.judge({c: 1.0}, "output")[0] is Action.BLOCK for c in Category)
