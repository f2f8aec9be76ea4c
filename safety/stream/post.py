"""The check of an answer while it is generated: text in, text that has passed out.

Two promises (tests/safety/test_post.py tries to break both):

- **Nothing flagged is sent.** A flagged span begins at a position that was held back ever
  since it was fed, so the text before it is all that was ever released.
- **Cutting changes nothing.** Decisions fall at word borders of the text, never at chunk
  borders: however a text is cut, the text released in all is the same.

Ordinary text is not held back: most tokenizers tell that a word is complete only with the next
token, so the first letters of a word that no rule may begin with are released before its end, and
what is flagged begins after them (`RuleWatch.free_letters`). Once a rule's anchor was
written ("… pipe bomb") or the cheap score is high, text is held until that is settled. Cost per
chunk does not grow with the answer. Personal data that the policy redacts is replaced in what is
released (`safety.stream.redactor`).
"""

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from safety.health import failure_record
from safety.judge.policy import Policy
from safety.judge.prompt import Prompt
from safety.read.encoded import BlockCutter, decoded
from safety.read.normalise import Word, WordStream
from safety.score.answer_model import answer_model
from safety.score.classifier import classifier
from safety.score.detect import product_vocabulary
from safety.score.rules import rule_book
from safety.stream.ciphered import CipherWatch
from safety.stream.redactor import Redactor
from safety.stream.watch import Flagged, RuleWatch, ScoreWatch
from safety.taxonomy import Category
from safety.types import Action, Halt, Released, SafetyDecision, SafetyMessage, Verdict

HALT_NOTICE = "This answer was stopped because it went against the usage policy."
"""What a client may show where an answer was halted."""

BATCH_WORDS = 64
LOOKBACK_WORDS = 256
"""More than any watch holds back, and a batch."""


class AnswerEnded(RuntimeError):
    """`feed` or `finish` was called after a halt or after `finish`."""


class PostClassifier:
    """Watches one answer. Not thread-safe: one instance an answer, fed in order.

    Args:
        policy: which categories halt, and from which score; what is redacted.
        context: the conversation that the answer replies to. What the user wrote there is
            not redacted in the answer; a newest message that was nearly refused makes
            the answer suspect (`safety.judge.prompt`).
    """

    def __init__(self, policy: Policy, context: Sequence[SafetyMessage] = ()) -> None:
        self._policy = policy
        self._context = context
        self._words = WordStream(product_vocabulary())
        self._rules = RuleWatch(rule_book(), policy)
        self._failed: list[str] = []
        self._score: ScoreWatch | None = None
        try:
            prompt = Prompt(context, owner=policy.owner)
            self._score = ScoreWatch(
                answer_model(), classifier(), policy, lambda: prompt.is_uncertain
            )
        except Exception as error:
            self._fail("classifier", error)
        prompts = "\n".join(m.text for m in context if m.role == "user") if policy.redact else ""
        self._redactor = Redactor(policy.redact, prompts)
        # Of each word, where a span that begins with it begins in the raw text.
        self._starts: deque[int] = deque(maxlen=LOOKBACK_WORDS)
        self._word_count = 0
        self._held = ""
        self._released = 0
        self._fed = 0
        self._blocks = BlockCutter()
        self._cipher = CipherWatch(self._check_decoded)
        self._digest = sha256()
        self._seconds = 0.0
        self._ended = False
        self._within_block = False
        self._withheld: Flagged | None = None

    def feed(self, delta: str) -> Verdict:
        """Take the next part of the answer; `delta` may be cut anywhere, also be empty.

        Returns:
            Released: text that may be sent now, possibly empty.
            Halt: the last text that may be sent, and why nothing may follow.
        Raises:
            AnswerEnded: a halt or `finish` came before.
        """
        self._begin(delta)
        text = ""
        sections = self._blocks.feed(delta)
        for section in sections:
            self._fed += len(section.text)
            verdict = self._advance(self._words.feed(section.text), section.block, final=False)
            if len(sections) == 1:
                return verdict
            if isinstance(verdict, Halt):
                return Halt(text + verdict.text, verdict.decision)
            text += verdict.text
        return Released(text)

    def finish(self) -> Verdict:
        """The answer is complete: release what is held back, or halt."""
        self._begin("")
        verdict = self._advance(self._words.finish(), self._blocks.finish(), final=True)
        self._ended = True
        return verdict

    @property
    def settled(self) -> int:
        """Characters of what was fed that are decided: released, or replaced in what was.

        The gateway bills the tokens of these, and of no others.
        """
        return self._released - self._redactor.held

    def decision(self) -> SafetyDecision:
        """What was found in the answer so far; for the record of an answer that was not halted."""
        if self._withheld is not None:
            return self._decision(self._withheld, Action.FLAG, would_be=Action.BLOCK)
        if self._redactor.found:
            return self._decision(None, Action.REDACT)
        return self._decision(None, Action.FLAG if self._failed else Action.ALLOW)

    def _begin(self, delta: str) -> None:
        if self._ended:
            raise AnswerEnded("This answer has ended; a new answer needs a new PostClassifier.")
        self._held += delta
        self._digest.update(delta.encode("utf-8", "surrogatepass"))

    def _advance(self, new: list[Word], block: str, *, final: bool) -> Verdict:
        started = time.perf_counter()
        try:
            flagged = self._watch(new)
            if final and flagged is None and not self._within_block:
                flagged = self._cipher.finish()
            if flagged is not None and not self._policy.dry_run:
                return self._halt(flagged, self._start(flagged.first))
            encoded = self._decoded(block)
            if encoded is not None and not self._policy.dry_run:
                return self._halt(encoded, self._fed - len(block) + self._rules.free_letters(block))
            self._withheld = self._withheld or flagged or encoded
            text = self._redactor.feed(self._release(None if final else self._frontier()))
            return Released(text + self._redactor.finish() if final else text)
        finally:
            self._seconds += time.perf_counter() - started

    def _halt(self, flagged: Flagged, start: int) -> Halt:
        """End the answer before raw position `start`."""
        self._ended = True
        text = self._redactor.feed(self._release(start))
        text += self._redactor.finish()
        self._held = ""
        return Halt(text, self._decision(flagged, Action.BLOCK))

    def _watch(self, new: list[Word]) -> Flagged | None:
        """The first flagged span that one of the new words completes."""
        for start in range(0, len(new), BATCH_WORDS):
            batch = new[start : start + BATCH_WORDS]
            free_letters = self._rules.free_letters
            self._starts.extend([word.start + free_letters(word.raw) for word in batch])
            self._word_count += len(batch)
            flagged = self._earliest(self._rules.take(batch), self._scored(batch))
            if not self._within_block:
                flagged = self._earliest(flagged, self._cipher.take(batch))
            if flagged is not None:
                return flagged
        return None

    def _scored(self, new: list[Word]) -> Flagged | None:
        if self._score is None:
            return None
        try:
            for word in new:
                flagged = self._score.take(word)
                if flagged is not None:
                    return flagged
        except Exception as error:
            self._score = None
            self._fail("classifier", error)
        return None

    def _decoded(self, block: str) -> Flagged | None:
        """Why what an encoded block says, which has just ended, may not be sent."""
        if not block or self._within_block:
            return None
        found = (self._check_decoded(text) for text in decoded(block))
        return next((flagged for flagged in found if flagged is not None), None)

    def _check_decoded(self, text: str) -> Flagged | None:
        """Why a decoded text may not be sent, checked like an answer of its own."""
        policy = replace(self._policy, redact=frozenset(), dry_run=False)
        inner = PostClassifier(policy, self._context)
        inner._within_block = True
        verdict = inner.feed(text)
        if not isinstance(verdict, Halt):
            verdict = inner.finish()
        if not isinstance(verdict, Halt):
            return None
        found = verdict.decision
        scores = {Category(name): score for name, score in found.scores.items()}
        signals = ("decoded", *found.signals)
        return Flagged(self._word_count, self._word_count, scores, found.layer, signals)

    @staticmethod
    def _earliest(one: Flagged | None, other: Flagged | None) -> Flagged | None:
        """The span that was complete first; of two at one word, the one that began first."""
        if one is None or other is None:
            return one or other
        return min(one, other, key=lambda flagged: (flagged.last, flagged.first))

    def _frontier(self) -> int:
        """The raw position up to which no flagged span can begin any more."""
        settled, (word, letters) = self._words.settled, self._words.unfinished
        open_words = (
            self._rules.open_since(letters if settled == word else ""),
            self._score.open_since() if self._score is not None else None,
            self._cipher.open_since(),
        )
        starts = [self._start(since) for since in open_words if since is not None]
        if not starts and settled == word and self._blocks.held in (0, len(letters)):
            return word + self._rules.free_letters(letters)
        return min(settled, self._fed - self._blocks.held, *starts)

    def _start(self, index: int) -> int:
        return self._starts[index - self._word_count]

    def _release(self, upto: int | None) -> str:
        """Take the text up to raw position `upto` (None: all of it) out of what is held."""
        count = len(self._held) if upto is None else max(0, upto - self._released)
        text, self._held = self._held[:count], self._held[count:]
        self._released += count
        return text

    def _fail(self, layer: str, error: BaseException) -> None:
        failure_record(layer, error)
        self._failed.append(layer)

    def _decision(
        self, flagged: Flagged | None, action: Action, would_be: Action | None = None
    ) -> SafetyDecision:
        scores = flagged.scores if flagged is not None else {}
        _, categories = self._policy.judge(scores, "output")
        layer = flagged.layer if flagged is not None else "none"
        if action is Action.REDACT:
            layer = "personal_data"
        return SafetyDecision(
            stage="output",
            action=action,
            scores={str(category): score for category, score in scores.items()},
            categories=categories,
            policy_version=self._policy.version,
            latency_ms=self._seconds * 1e3,
            layer=layer,
            text_sha256=self._digest.hexdigest(),
            would_be=would_be,
            signals=(flagged.signals if flagged is not None else ())
            + tuple(dict.fromkeys(self._redactor.found)),
            failed=tuple(self._failed),
        )
