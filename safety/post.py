"""The check of an answer while it is generated: text in, text that has passed out.

Two promises (tests/safety/test_post.py tries to break both):

- **Nothing flagged is sent.** A flagged span begins at a position that was held back ever
  since it was fed, so the text before it is all that was ever released.
- **Cutting changes nothing.** Decisions fall at word borders of the text, never at chunk
  borders: however a text is cut, the text released in all is the same.

Ordinary text is held back for one unfinished word, or until a phrase that began turns out
harmless: streaming stays live. Once an anchor of a rule was written ("… pipe bomb"), text is
held from it until the rule's reach has passed. Cost per chunk does not grow with the answer.
"""

import time
from collections import deque
from collections.abc import Sequence
from hashlib import sha256

from safety.lexical import Match, Rule, RuleTracker, rule_book
from safety.normalise import Word, WordStream
from safety.policy import Policy
from safety.taxonomy import Category
from safety.types import Action, Halt, Released, SafetyDecision, SafetyMessage, Verdict

HALT_NOTICE = "This answer was stopped because it went against the usage policy."
"""What a client may show where an answer was halted."""

LOOKBACK_WORDS = 64


class AnswerEnded(RuntimeError):
    """`feed` or `finish` was called after a halt or after `finish`."""


class PostClassifier:
    """Watches one answer. Not thread-safe: one instance an answer, fed in order.

    Args:
        policy: which categories halt, and from which score.
        context: the conversation that the answer replies to.
    """

    def __init__(self, policy: Policy, context: Sequence[SafetyMessage] = ()) -> None:
        self._policy = policy
        self._context = tuple(context)
        self._book = rule_book()
        self._words = WordStream(self._book.vocabulary)
        self._tracker = RuleTracker(self._book, "output", wanted=self._halts)
        self._beginnings = self._book.beginnings(self._tracker.anchors)
        self._recent: deque[Word] = deque(maxlen=LOOKBACK_WORDS)
        self._word_count = 0
        self._held = ""
        self._released = 0
        self._digest = sha256()
        self._seconds = 0.0
        self._ended = False
        self._withheld: Match | None = None

    def feed(self, delta: str) -> Verdict:
        """Take the next piece of the answer; `delta` may be cut anywhere, also be empty.

        Returns:
            Released: text that may be sent now, possibly empty.
            Halt: the last text that may be sent, and why nothing may follow.
        """
        self._begin(delta)
        started = time.perf_counter()
        verdict = self._advance(self._words.feed(delta), final=False)
        self._seconds += time.perf_counter() - started
        return verdict

    def finish(self) -> Verdict:
        """The answer is complete: release what is held back, or halt."""
        self._begin("")
        verdict = self._advance(self._words.finish(), final=True)
        self._ended = True
        return verdict

    def decision(self) -> SafetyDecision:
        """What was found in the answer so far; for the record of an answer that was not halted."""
        return self._decision(self._withheld, Action.ALLOW)

    def _begin(self, delta: str) -> None:
        if self._ended:
            raise AnswerEnded("This answer has ended; a new answer needs a new PostClassifier.")
        self._held += delta
        self._digest.update(delta.encode("utf-8", "surrogatepass"))

    def _halts(self, rule: Rule) -> bool:
        """Whether `rule` alone stops an answer under the policy."""
        action, _ = self._policy.judge({rule.category: rule.score}, "output")
        return action is Action.BLOCK

    def _advance(self, new: list[Word], *, final: bool) -> Verdict:
        match = self._first_match(new)
        if match is not None and not self._policy.dry_run:
            self._ended = True
            text = self._release(self._recent_word(match.first).start)
            self._held = ""
            return Halt(text, self._decision(match, Action.BLOCK))
        self._withheld = self._withheld or match
        return Released(self._release(None if final else self._frontier()))

    def _first_match(self, new: list[Word]) -> Match | None:
        """The first rule that the new words complete; of several at one word the widest."""
        if not new:
            return None
        overlap = min(self._book.longest_phrase, len(self._recent))
        seen = list(self._recent)[len(self._recent) - overlap :]
        first_new = self._word_count
        hits = self._book.hits([*seen, *new], first_index=first_new - overlap)
        index = 0
        for word_index, word in enumerate(new, start=first_new):
            self._recent.append(word)
            self._word_count += 1
            matches: list[Match] = []
            while index < len(hits) and hits[index].last <= word_index:
                if hits[index].last == word_index:
                    matches += self._tracker.feed(hits[index])
                index += 1
            if matches:
                return min(matches, key=lambda match: match.first)
        return None

    def _recent_word(self, index: int) -> Word:
        return self._recent[index - self._word_count]

    def _frontier(self) -> int:
        """The raw position up to which no flagged span can begin any more."""
        frontier = self._words.settled
        anchor = self._tracker.open_since(self._word_count - 1)
        if anchor is not None:
            frontier = min(frontier, self._recent_word(anchor).start)
        reach = min(self._book.longest_phrase, len(self._recent))
        for back in range(reach, 0, -1):
            tail = [self._recent[-offset] for offset in range(back, 0, -1)]
            if " ".join(word.text for word in tail) in self._beginnings:
                return min(frontier, tail[0].start)
        return frontier

    def _release(self, upto: int | None) -> str:
        """Take the text up to raw position `upto` (None: all of it) out of what is held."""
        count = len(self._held) if upto is None else max(0, upto - self._released)
        text, self._held = self._held[:count], self._held[count:]
        self._released += count
        return text

    def _decision(self, match: Match | None, action: Action) -> SafetyDecision:
        scores: dict[Category, float] = {}
        if match is not None:
            scores[match.rule.category] = match.rule.score
        found = Action.FLAG if match is not None and action is Action.ALLOW else action
        return SafetyDecision(
            stage="output",
            action=found,
            scores={str(category): score for category, score in scores.items()},
            categories=[str(category) for category in scores],
            policy_version=self._policy.version,
            latency_ms=self._seconds * 1e3,
            layer="lexical" if match is not None else "none",
            text_sha256=self._digest.hexdigest(),
            would_be=Action.BLOCK if found is Action.FLAG else None,
            signals=(match.rule.id,) if match is not None else (),
        )
