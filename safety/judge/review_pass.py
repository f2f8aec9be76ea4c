"""The review pass: a whole answer examined after it was sent, for policies that have reviews.

The streaming check stops what a policy stops. What a policy wants reviewed is not urgent, and
costs nothing under a policy that reviews nothing.
"""

from dataclasses import replace

from safety.judge.policy import Policy
from safety.score.detect import examine
from safety.taxonomy import Category
from safety.types import Action, SafetyDecision


def wants_review_pass(policy: Policy) -> bool:
    """Whether `policy` reviews any category."""
    return Action.REVIEW in policy.actions.values()


def review_pass(decision: SafetyDecision, text: str, policy: Policy) -> SafetyDecision:
    """`decision` about an answer, made `review` where its whole text calls for that.

    What stopped or redacted the answer stays as it was. CPU-bound; call it in a thread.
    """
    if decision.action.severity >= Action.REVIEW.severity:
        return decision
    evidence = examine(text, "output", owner=policy.owner)
    action, categories = policy.judge(evidence.scores, "output")
    if action is not Action.REVIEW:
        return decision
    return replace(
        decision,
        action=action,
        categories=categories,
        scores={str(category): score for category, score in evidence.scores.items()},
        layer=evidence.layers[Category(categories[0])],
    )
