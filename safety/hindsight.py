"""The look at a whole answer after it was sent, for policies that want people to review some.

The streaming check stops what a policy stops; what it merely wants reviewed needs no haste, and
is not paid for by anybody whose policy reviews nothing.
"""

from dataclasses import replace

from safety.detect import examine
from safety.policy import Policy
from safety.taxonomy import Category
from safety.types import Action, SafetyDecision


def wants_hindsight(policy: Policy) -> bool:
    """Whether `policy` reviews any category."""
    return Action.REVIEW in policy.actions.values()


def in_hindsight(decision: SafetyDecision, text: str, policy: Policy) -> SafetyDecision:
    """`decision` about an answer, made `review` where its whole text calls for that.

    What stopped or redacted the answer stays as it was. CPU-bound; call it in a thread.
    """
    if decision.action.severity >= Action.REVIEW.severity:
        return decision
    evidence = examine(text, "output")
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
