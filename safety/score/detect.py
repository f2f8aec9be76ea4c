"""The cascade over one text: rules, then a trained layer, over every decoded view.

`examine` is for what people type and models answer, `examine_sentences` for requests in the midst
of what people type, `examine_untrusted` for orders in what neither wrote. None raises: a layer that
fails is named in the evidence and the others go on.
"""

import re
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from heapq import nlargest
from threading import Lock
from typing import Literal

from safety.health import failure_record
from safety.read.decode import views
from safety.read.normalise import Vocabulary, Word, words
from safety.score.answer_model import answer_model, answer_scores
from safety.score.classifier import classifier
from safety.score.features import NormalizedText, normalized_from
from safety.score.orders import orders_head, orders_score
from safety.score.rules import RuleBook, RuleTracker, rule_book
from safety.taxonomy import Category
from safety.types import Stage, text_digest

CLASSIFIER_BUDGET_S = 0.25
"""For one text. A prompt of ordinary length needs a hundredth of it; beyond, it was late."""

CLASSIFIER_BUDGET_A_CHARACTER_S = 2e-5
"""What a long text gets on top: several times what its words need on an idle core."""

MIN_CLASSIFIED_WORDS = 2
MIN_ATTACK_WORDS = 6
"""Different ones. Below, only rules call a text an attack: to the network "Repeat exactly: 漢字"
looks like one, and so may a single letter held down."""
_MAX_REMEMBERED = 4_096
MAX_SENTENCES, MAX_WORST_SENTENCES = 64, 16
_SENTENCE_END = re.compile(r"\n+|(?<=[.!?:])\s+")
_Kind = Stage | Literal["untrusted", "sentences"]


@dataclass(slots=True)
class Evidence:
    """What the layers found in one text.

    Attributes:
        scores: by category, the highest of any layer and view.
        layers: by category, the layer that gave its score.
        signals: rules that matched, and `decoded:<how>` for views that scored.
        moderation: finer OpenAI categories that rules named, with the rule's score.
        failed: layers that crashed or were late.
        alarming: categories whose anchor words occur at all; decides when a layer failed.
    """

    scores: dict[Category, float] = field(default_factory=dict)
    layers: dict[Category, str] = field(default_factory=dict)
    signals: list[str] = field(default_factory=list)
    moderation: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    alarming: set[Category] = field(default_factory=set)

    def add(self, category: Category, score: float, layer: str) -> None:
        if score > self.scores.get(category, -1.0):
            self.scores[category] = score
            self.layers[category] = layer

    def merge(
        self, other: "Evidence", *, only: Category | None = None, but: Category | None = None
    ) -> None:
        """Take over what `other` found: of category `only` where that is given, not of `but`."""
        for category, score in other.scores.items():
            if category is not but and (only is None or category is only):
                self.add(category, score, other.layers[category])
        self.failed += other.failed
        if only is None:
            self.signals += other.signals
            self.alarming |= other.alarming


@lru_cache(maxsize=1)
def product_vocabulary() -> Vocabulary:
    """The words that a disguise may stand for: the rules' and, where it loads, the classifier's."""
    try:
        return classifier().vocabulary
    except Exception as error:
        failure_record("classifier", error)
        return rule_book().vocabulary


def examine(text: str, stage: Stage, *, owner: str | None = None) -> Evidence:
    """All that the layers say about `text`. Pure but for its memory of recent texts' evidence.

    Args:
        owner: whose text it is. Evidence is remembered for its owner by hash, so that a long
            conversation is not examined anew each turn, and nobody learns by the time of a check
            what others have said. None: it is not remembered.
    """

    def read(view: str, folded: Sequence[Word], evidence: Evidence, deadline: float) -> None:
        _attempt("lexical", evidence, partial(_rules, folded, stage, evidence))
        normalized = normalized_from(view, folded)
        _attempt("classifier", evidence, partial(_learned, normalized, stage, evidence, deadline))

    return _remembered(text, stage, owner, partial(_examined, text, read))


def examine_untrusted(text: str, *, owner: str | None = None) -> Evidence:
    """The orders to a model in `text`, which somebody else than the user wrote: no category but
    PROMPT_INJECTION is looked for. Remembered for `owner` like `examine`'s."""

    def read(view: str, folded: Sequence[Word], evidence: Evidence, deadline: float) -> None:
        found = Evidence()
        _attempt("lexical", found, partial(_rules, folded, "prompt", found))
        normalized = normalized_from(view, folded)
        _attempt("orders", found, partial(_orders, normalized, found, deadline))
        evidence.merge(found, only=Category.PROMPT_INJECTION)

    return _remembered(text, "untrusted", owner, partial(_examined, text, read))


def examine_sentences(text: str, *, owner: str | None = None) -> Evidence:
    """What the classifier says of sentences of a prompt alone: among the many words of a jailbreak
    a request is overlooked. It reads those that its word screen finds worst, of a long text of the
    first and the last ones."""

    def worst(evidence: Evidence) -> None:
        model, vocabulary = classifier(), product_vocabulary()
        found = [part for part in _SENTENCE_END.split(text) if part.strip()]
        if len(found) > MAX_SENTENCES:
            found = found[: MAX_SENTENCES // 2] + found[-MAX_SENTENCES // 2 :]
        sentences = [normalized_from(part, words(part, vocabulary)) for part in found]
        deadline = time.monotonic() + CLASSIFIER_BUDGET_S
        for sentence in nlargest(MAX_WORST_SENTENCES, sentences, key=model.cheap_score):
            _learned(sentence, "prompt", evidence, deadline)

    def read() -> Evidence:
        evidence = Evidence()
        _attempt("classifier", evidence, partial(worst, evidence))
        return evidence

    return _remembered(text, "sentences", owner, read)


_ReadView = Callable[[str, Sequence[Word], Evidence, float], None]


def _remembered(
    text: str, kind: _Kind, owner: str | None, read: Callable[[], Evidence]
) -> Evidence:
    """Return what `read` finds in `text`, or has found in it for `owner` before."""
    if owner is None:
        return read()
    key = (owner, text_digest(text), kind)
    with _lock:
        remembered = _memory.get(key)
        if remembered is not None:
            _memory.move_to_end(key)
            return remembered
    evidence = read()
    if not evidence.failed:
        with _lock:
            _memory[key] = evidence
            while len(_memory) > _MAX_REMEMBERED:
                _memory.popitem(last=False)
    return evidence


def _examined(text: str, read: _ReadView) -> Evidence:
    evidence = Evidence()
    vocabulary = product_vocabulary()  # loads the classifier where this is the first text
    allowed = CLASSIFIER_BUDGET_S + len(text) * CLASSIFIER_BUDGET_A_CHARACTER_S
    deadline = time.monotonic() + allowed
    try:
        for view in views(text):
            before = max(evidence.scores.values(), default=0.0)
            read(view.text, words(view.text, vocabulary), evidence, deadline)
            if view.how != "plain" and max(evidence.scores.values(), default=0.0) > before:
                evidence.signals.append(f"decoded:{view.how}")
    except Exception as error:
        failure_record("decode", error)
        evidence.failed.append("decode")
    return evidence


_memory: OrderedDict[tuple[str, str, str], Evidence] = OrderedDict()
_lock = Lock()


def memory_clear() -> None:
    """Forget remembered evidence, for tests and after a change of the rules."""
    with _lock:
        _memory.clear()
    product_vocabulary.cache_clear()


def _attempt(layer: str, evidence: Evidence, work: Callable[[], None]) -> None:
    """Run one layer; whatever it raises is recorded and the cascade goes on."""
    try:
        work()
    except Exception as error:
        failure_record(layer, error)
        if layer not in evidence.failed:
            evidence.failed.append(layer)


def _rules(folded: Sequence[Word], stage: Stage, evidence: Evidence) -> None:
    book = rule_book()
    tracker = _all_rules(book, stage).afresh()
    for hit in book.hits(folded):
        evidence.alarming |= tracker.anchored_categories(hit.group)
        for match in tracker.feed(hit):
            evidence.add(match.rule.category, match.rule.score, "lexical")
            if match.rule.id not in evidence.signals:
                evidence.signals.append(match.rule.id)
            for name in match.rule.moderation:
                known = evidence.moderation.get(name, 0.0)
                evidence.moderation[name] = max(known, match.rule.score)


@lru_cache(maxsize=2)
def _all_rules(book: RuleBook, stage: Stage) -> RuleTracker:
    return RuleTracker(book, stage)


def _learned(text: NormalizedText, stage: Stage, evidence: Evidence, deadline: float) -> None:
    model = classifier()
    if len(text.words) < MIN_CLASSIFIED_WORDS:
        return
    if stage == "output":
        for scores in answer_scores(text.words, answer_model(), model, deadline):
            for category, score in scores.items():
                evidence.add(category, score, "classifier")
        return
    scores = model.estimate(text, deadline=deadline).scores()
    if len(set(text.words)) < MIN_ATTACK_WORDS:
        del scores[Category.PROMPT_INJECTION]
    for category, score in scores.items():
        evidence.add(category, score, "classifier")


def _orders(text: NormalizedText, evidence: Evidence, deadline: float) -> None:
    if len(text.words) >= MIN_CLASSIFIED_WORDS:
        evidence.add(Category.PROMPT_INJECTION, orders_score(text, deadline=deadline), "orders")


def warm_up() -> None:
    """Load every layer, so that the first text does not wait for it.

    One that cannot be loaded is recorded as failed, as it will be again with each text.
    """
    product_vocabulary()
    rule_book()
    for layer, load in (("classifier", answer_model), ("orders", orders_head)):
        try:
            load()
        except Exception as error:
            failure_record(layer, error)
