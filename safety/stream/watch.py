"""What watches the words of an answer go by: the rules, and the trained classifier.

Each watch takes the words in order, says at which word a flagged span is complete and where it
began, and from which word on a span may still be growing. A span always begins at or after
the word from which the watch asked to hold back, at every moment before: that is what lets
`safety.stream.post` promise that nothing flagged was sent.
"""

import re
from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from weakref import WeakKeyDictionary

from safety.judge.policy import STANDARD_THRESHOLD, Policy
from safety.read.normalise import Word
from safety.score.answer_model import AnswerModel, verifier_scores
from safety.score.classifier import Classifier
from safety.score.grams import GramReader
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
        self._tracker = _tracker(book, policy)
        self._beginnings = book.beginnings(self._tracker.anchors)
        self._first_letters = book.first_letters(self._tracker.anchors)
        self._recent: deque[str] = deque(maxlen=book.longest_phrase)
        self._count = 0
        self._anchor: int | None = None
        # What the last words may be the beginning of: the longest first, with its first word.
        self._begun: list[tuple[int, str]] = []

    def take(self, new: Sequence[Word]) -> Flagged | None:
        """The first rule that `new` completes; of several at one word the widest."""
        before = self._recent[-1] if self._recent else ""
        flagged = self._completed(new) if self._book.may_end_in(before, new) else None
        self._recent.extend([word.text for word in new])
        self._count += len(new)
        self._anchor = self._tracker.open_since(self._count - 1)
        self._begun = self._beginnings_now()
        return flagged

    def _completed(self, new: Sequence[Word]) -> Flagged | None:
        overlap = [Word(text, 0, 0) for text in self._recent]
        first_new = self._count
        hits = self._book.hits([*overlap, *new], first_index=first_new - len(overlap))
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

    def free_letters(self, raw: str) -> int:
        """How many letters of a word, or of its beginning, are released before its end is known.

        They are not part of what is flagged. None, while a rule's match may begin with them (but
        what may be a word like "the"), or a word that is spelled letter by letter, or one in
        disguise. It depends on the letters alone and does not fall as they grow.
        """
        return _free_letters(raw, self._first_letters)

    def open_since(self, unfinished: str = "") -> int | None:
        """The first word from which a match may still grow, or None.

        Args:
            unfinished: how the next word begins, as it is written.
        """
        if not self._begun:
            return self._anchor
        letters = _first_letters_of(unfinished)
        for first, text in self._begun:
            if not letters or self._beginnings.goes_on(text, letters):
                return first if self._anchor is None else min(self._anchor, first)
        return self._anchor

    def _beginnings_now(self) -> list[tuple[int, str]]:
        before = self._recent[-2] if len(self._recent) > 1 else ""
        if not self._beginnings.may_end_with(before, self._recent[-1]):
            return []
        recent, texts = list(self._recent), self._beginnings.texts
        lengths = range(len(recent), 0, -1)
        ends = ((self._count - words, " ".join(recent[-words:])) for words in lengths)
        return [(first, text) for first, text in ends if text in texts]


MAX_FREE_LETTERS = 12
"""Of a word, before its end."""

# Not two capitals, as base32 and most of base64 begin with.
# fmt: off
_FUNCTION_WORDS = frozenset((
    "an", "and", "are", "as", "at", "be", "by", "can", "for", "from", "has", "have", "if", "in",
    "is", "it", "not", "of", "on", "or", "so", "that", "the", "their", "then", "there", "they",
    "this", "to", "was", "we", "when", "which", "will", "with", "you", "your",
))
# fmt: on
_MAX_FUNCTION_WORD = max(map(len, _FUNCTION_WORDS))
_FREE = re.compile(f"(?=[A-Za-z']{{2}})[A-Z]?[a-z']{{1,{MAX_FREE_LETTERS - 1}}}")


_LETTERS = re.compile(r"[A-Za-z]{2}[A-Za-z']*")


@lru_cache(maxsize=32_768)
def _first_letters_of(raw: str) -> str:
    """The letters that a word begins with, as it is folded, however it goes on: two or more, else
    none, since a letter alone may be spelled on."""
    match = _LETTERS.match(raw)
    return "" if match is None else match.group().replace("'", "").lower()


@lru_cache(maxsize=32_768)
def _free_letters(raw: str, first_letters: frozenset[str]) -> int:
    """See `RuleWatch.free_letters`; `first_letters` of what a match may begin with."""
    match = _FREE.match(raw)
    if match is None:
        return 0
    letters = match.group().replace("'", "").lower()
    if len(letters) < 2 or letters in first_letters:
        return _function_word(match.group())
    return match.end()


def _function_word(letters: str) -> int:
    """The length of the longest of `_FUNCTION_WORDS` that `letters` begins with, or 0."""
    for length in range(min(len(letters), _MAX_FUNCTION_WORD), 1, -1):
        if letters[:length].lower() in _FUNCTION_WORDS:
            return length
    return 0


def _tracker(book: RuleBook, policy: Policy) -> RuleTracker:
    """A new tracker of the rules that the policy blocks in an answer."""
    judged = (policy.thresholds, policy.output_thresholds, policy.actions)
    key = tuple(frozenset(by_category.items()) for by_category in judged)
    trackers = _TRACKERS.setdefault(book, {})
    tracker = trackers.get(key)
    if tracker is None:
        tracker = RuleTracker(
            book,
            "output",
            wanted=lambda rule: (
                policy.judge({rule.category: rule.score}, "output")[0] is Action.BLOCK
            ),
        )
        if len(trackers) >= MAX_POLICIES:
            trackers.clear()
        trackers[key] = tracker
    return tracker.afresh()


MAX_POLICIES = 64
_TRACKERS: WeakKeyDictionary[RuleBook, dict[Hashable, RuleTracker]] = WeakKeyDictionary()
"""Every answer asks, and few policies differ: to collect the rules anew costs a millisecond."""

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
        self._grams = GramReader()
        self._cheap_score = 0
        self._count = 0
        self._held_from: int | None = None

    def take(self, word: Word) -> Flagged | None:
        """Take the next word; a flagged span ends with it."""
        if self._hold_from is None:
            return None
        text = "0" if word.text.isdigit() else word.text
        self._cheap_score = self._model.step(self._cheap_score, self._grams.rows(text))
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
    return {category: _raised(score) for category, score in scores.items()}


def _raised(score: float) -> float:
    if score <= UNCERTAIN_PROMPT_FROM:
        return max(0.0, score) * STANDARD_THRESHOLD / UNCERTAIN_PROMPT_FROM
    share = (min(1.0, score) - UNCERTAIN_PROMPT_FROM) / (1.0 - UNCERTAIN_PROMPT_FROM)
    return STANDARD_THRESHOLD + share * (1.0 - STANDARD_THRESHOLD)


def _blocks_any(policy: Policy) -> bool:
    return any(policy.judge({c: 1.0}, "output")[0] is Action.BLOCK for c in Category)
