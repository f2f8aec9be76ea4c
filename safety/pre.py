"""The check before an engine sees anything: a whole conversation in, one decision out.

Pure and CPU-bound, a few milliseconds; call it in a thread. The newest message counts in full;
earlier user messages count through the running text of the conversation, so that a request cut
over several turns is read as one. Content of `tool` messages is searched for injection only:
a web page may speak of crimes, but it may not give orders.
"""

import time
from collections.abc import Sequence

from safety.decode import views
from safety.lexical import find
from safety.policy import Policy
from safety.taxonomy import Category
from safety.types import Action, SafetyDecision, SafetyMessage, text_digest

RECENT_USER_CHARACTERS = 4_000
"""How much of the earlier user messages is read together with the newest."""


class PreClassifier:
    """Checks prompts. Holds no state between calls; one instance serves all threads."""

    def check(self, messages: Sequence[SafetyMessage], policy: Policy) -> SafetyDecision:
        """Decide about a conversation whose last user message is the new prompt.

        Args:
            messages: oldest first; any roles. Assistant messages are context, not evidence.
        Returns:
            A decision of stage `prompt`; `text_sha256` is of the newest user message.
        """
        started = time.perf_counter()
        newest = next((m.text for m in reversed(messages) if m.role == "user"), "")
        scores: dict[Category, float] = {}
        signals: list[str] = []
        for text, only in _readings(messages, newest):
            for view in views(text):
                for match in find(view.text, "prompt"):
                    category = match.rule.category
                    if only is not None and category is not only:
                        continue
                    signals.append(match.rule.id)
                    scores[category] = max(scores.get(category, 0.0), match.rule.score)
        digest = text_digest(newest)
        action, categories = policy.judge(scores, "prompt")
        if digest in policy.allow_hashes:
            action = Action.ALLOW
        enforced = Action.FLAG if policy.dry_run and action is Action.BLOCK else action
        return SafetyDecision(
            stage="prompt",
            action=enforced,
            scores={str(category): score for category, score in scores.items()},
            categories=categories,
            policy_version=policy.version,
            latency_ms=(time.perf_counter() - started) * 1e3,
            layer="lexical" if categories else "none",
            text_sha256=digest,
            would_be=action if enforced is not action else None,
            signals=tuple(dict.fromkeys(signals)),
        )


def _readings(messages: Sequence[SafetyMessage], newest: str) -> list[tuple[str, Category | None]]:
    """The texts to search, each with the one category that counts there (None: all)."""
    readings: list[tuple[str, Category | None]] = [(newest, None)]
    earlier = [m.text for m in messages if m.role == "user"][:-1]
    if earlier:
        together = "\n".join([*earlier, newest])
        readings.append((together[-RECENT_USER_CHARACTERS - len(newest) :], None))
    readings += [(m.text, Category.PROMPT_INJECTION) for m in messages if m.role == "tool"]
    return readings
