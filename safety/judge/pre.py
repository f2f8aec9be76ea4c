"""The check before an engine sees anything: a whole conversation in, one decision out.

Pure and CPU-bound, a few milliseconds; call it in a thread. Every user message counts in full,
and the recent ones are also read as one text, so that a request cut over several turns is seen.
People may instruct their own model: what reads like a jailbreak in their own words is flagged, and
its sentences are read one by one for the harm that it may ask for.
Content of `tool` messages is searched for injection only: a web page may speak of crimes, but
it may not give orders. What does, a file too, is withheld from the model by the caller
(`spotlight.is_withheld`), and flagged: a refusal would close the conversation for somebody who has
attacked nobody. System messages are the operator's and are trusted; what
people write into them on the page is checked when it is saved (`backend/api/kept_text_check.py`).
"""

import time
from collections.abc import Sequence
from dataclasses import replace

from safety.health import failure_record
from safety.judge.guard import Guard
from safety.judge.policy import Policy
from safety.judge.spotlight import is_withheld
from safety.judge.support import SUPPORT_OFFERED, calls_for_support
from safety.score.detect import Evidence, examine, examine_sentences, examine_untrusted
from safety.taxonomy import Category
from safety.types import Action, SafetyDecision, SafetyMessage, newest_of, text_digest

WITHHELD = "untrusted_content_withheld"
"""The signal of a decision about a conversation with untrusted content that no model reads."""

RECENT_USER_CHARACTERS = 2_000
"""How much of the earlier user messages is read together with the newest."""


class PreClassifier:
    """Checks prompts. Holds no state between calls; one instance serves all threads.

    Args:
        guard: asked about the uncertain band where the policy wants it; slower, so last.
    """

    def __init__(self, guard: Guard | None = None) -> None:
        self._guard = guard

    def check(self, messages: Sequence[SafetyMessage], policy: Policy) -> SafetyDecision:
        """Decide about a conversation whose last user message is the new prompt.

        Args:
            messages: oldest first; any roles. Assistant messages are context, not evidence.
        Returns:
            A decision of stage `prompt`; `text_sha256` is of the newest user message. Never
            raises: a failed layer is named in `failed`, and the policy says what follows.
        """
        started = time.perf_counter()
        newest = newest_of(messages)
        digest = text_digest(newest)
        evidence = _gather(messages, newest, policy)
        of_words = _with_instructions_flagged(policy)
        if policy.guard and self._guard is not None:
            self._ask_guard(self._guard, messages, evidence, of_words)
        action, _ = of_words.judge(evidence.scores, "prompt")
        action = max(action, _examine_untrusted(messages, evidence, policy), key=_severity)
        _, categories = policy.judge(evidence.scores, "prompt")
        layer = evidence.layers[Category(categories[0])] if categories else "none"
        if evidence.failed and action is not Action.BLOCK:
            action, layer = _despite_failure(evidence, policy, action), "failure"
        if digest in policy.allow_hashes:
            action = Action.ALLOW
        enforced = Action.FLAG if policy.dry_run and action is Action.BLOCK else action
        return SafetyDecision(
            stage="prompt",
            action=enforced,
            scores={str(category): score for category, score in evidence.scores.items()},
            categories=categories,
            policy_version=policy.version,
            latency_ms=(time.perf_counter() - started) * 1e3,
            layer=layer,
            text_sha256=digest,
            would_be=action if enforced is not action else None,
            signals=tuple(dict.fromkeys(evidence.signals)),
            failed=tuple(dict.fromkeys(evidence.failed)),
        )

    @staticmethod
    def _ask_guard(
        guard: Guard, messages: Sequence[SafetyMessage], evidence: Evidence, policy: Policy
    ) -> None:
        """Let the guard decide categories that are uncertain: near the threshold, below it."""
        if policy.judge(evidence.scores, "prompt")[0] is Action.BLOCK:
            return
        uncertain = any(
            score >= policy.threshold(category, "prompt") - policy.guard_band
            for category, score in evidence.scores.items()
        )
        if not uncertain:
            return
        try:
            for category in guard.judge(messages):
                evidence.add(category, 0.99, "guard")
        except Exception as error:
            failure_record("guard", error)
            evidence.failed.append("guard")


def _with_instructions_flagged(policy: Policy) -> Policy:
    """`policy` for people's own words, where PROMPT_INJECTION is no ground for a refusal."""
    if policy.action(Category.PROMPT_INJECTION, "prompt") is not Action.BLOCK:
        return policy
    return replace(policy, actions={**policy.actions, Category.PROMPT_INJECTION: Action.FLAG})


def _gather(messages: Sequence[SafetyMessage], newest: str, policy: Policy) -> Evidence:
    """Evidence over the user's words, and over what they attached but for orders."""
    evidence, owner = Evidence(), policy.owner
    said = [m for m in messages if m.role == "user"]
    typed = [m for m in said if not m.is_data]
    for message in said:
        found = examine(message.text, "prompt", owner=owner)
        evidence.merge(found, but=_orders_of(message))
        if typed and message is typed[-1] and calls_for_support(found.scores):
            evidence.signals.append(SUPPORT_OFFERED)
    bound = RECENT_USER_CHARACTERS + len(newest)
    if len(typed) > 1:
        evidence.merge(_together(typed, bound, owner))
    if len(said) > len(typed):
        evidence.merge(_together(said, bound, owner), but=Category.PROMPT_INJECTION)
    threshold = policy.threshold(Category.PROMPT_INJECTION, "prompt")
    if evidence.scores.get(Category.PROMPT_INJECTION, 0.0) >= threshold:
        for message in typed:
            evidence.merge(examine_sentences(message.text, owner=owner))
    return evidence


def _orders_of(message: SafetyMessage) -> Category | None:
    return Category.PROMPT_INJECTION if message.is_data else None


def _together(messages: Sequence[SafetyMessage], bound: int, owner: str | None) -> Evidence:
    return examine("\n".join(m.text for m in messages)[-bound:], "prompt", owner=owner)


def _examine_untrusted(
    messages: Sequence[SafetyMessage], evidence: Evidence, policy: Policy
) -> Action:
    """Add to `evidence` the orders in tools' results and attachments; returns what follows, which
    is no refusal: those are withheld."""
    found = Evidence()
    for message in messages:
        if not message.is_untrusted:
            continue
        found.merge(examine_untrusted(message.text, owner=policy.owner))
        if is_withheld(message.text, policy):
            evidence.signals.append(WITHHELD)
    action, _ = policy.judge(found.scores, "prompt")
    evidence.merge(found)
    return Action.FLAG if action is Action.BLOCK else action


def _severity(action: Action) -> int:
    return action.severity


def _despite_failure(evidence: Evidence, policy: Policy, action: Action) -> Action:
    """What to do when a layer failed and the others found no reason to block.

    Closed where the text touches a category that the policy fails closed for, or where not
    even the rules could read it; open, but flagged, otherwise.
    """
    blind = {"lexical", "decode"} & set(evidence.failed)
    if policy.fail_closed and (blind or evidence.alarming & policy.fail_closed):
        return Action.BLOCK
    return max(action, Action.FLAG, key=_severity)
