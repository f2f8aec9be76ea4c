"""The prompt check with a timeout, for a check that hangs.

The layers bound their own work (`safety.score.detect`), but a bound that code keeps by itself does
not hold when that code is what hangs: a library's lock, a loop in a decoder. So the check runs in a
thread that can be left behind, and the policy decides about what was not checked.
"""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TimedOut

from safety.health import failure_record
from safety.judge.policy import Policy
from safety.judge.pre import PreClassifier
from safety.types import Action, SafetyDecision, SafetyMessage, newest_of, text_digest

TIMEOUT_S = 10.0
"""A thousand times what an ordinary prompt needs, on a machine that is busy with other work."""

LAYER = "pre_check"
_THREADS = 16


class TimedCheck:
    """`PreClassifier.check` with a timeout. Where all threads hang, it times out for every caller.

    Args:
        timeout_s: after which the policy decides without scores.
    """

    def __init__(self, classifier: PreClassifier, *, timeout_s: float = TIMEOUT_S) -> None:
        self._classifier = classifier
        self._timeout_s = timeout_s
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="safety-check")

    def check(self, messages: Sequence[SafetyMessage], policy: Policy) -> SafetyDecision:
        """As `PreClassifier.check`; `pre_check` is in `failed` where it timed out."""
        started = time.perf_counter()
        running = self._threads.submit(self._classifier.check, messages, policy)
        try:
            return running.result(timeout=self._timeout_s)
        except TimedOut as error:
            running.cancel()
            failure_record(LAYER, error)
        return _unchecked(messages, policy, time.perf_counter() - started)


def _unchecked(messages: Sequence[SafetyMessage], policy: Policy, seconds: float) -> SafetyDecision:
    """Blocked where the policy fails closed for any category, since the text is unknown; else
    flagged."""
    action = Action.BLOCK if policy.fail_closed else Action.FLAG
    enforced = Action.FLAG if policy.dry_run else action
    return SafetyDecision(
        stage="prompt",
        action=enforced,
        scores={},
        categories=[],
        policy_version=policy.version,
        latency_ms=seconds * 1e3,
        layer="failure",
        text_sha256=text_digest(newest_of(messages)),
        would_be=action if enforced is not action else None,
        failed=(LAYER,),
    )
