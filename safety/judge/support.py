"""Help for people who speak of suicide or self-harm.

Whether a text is stopped is the policy's decision. Whether its author is shown where to find help
is decided here, at a lower score and under every policy: a card too many costs a glance, a card
too few may cost a life.
"""

from collections.abc import Mapping

from safety.taxonomy import Category
from safety.types import SafetyDecision

SUPPORT_THRESHOLD = 0.5
"""The score of `SELF_HARM` from which help is offered."""

SUPPORT_OFFERED = "support_offered"
"""The signal of a decision about a prompt whose author is offered help."""


def calls_for_support(scores: Mapping[Category, float]) -> bool:
    """Return whether the author of a text with these scores is offered help."""
    return scores.get(Category.SELF_HARM, 0.0) >= SUPPORT_THRESHOLD


def offers_support(decision: SafetyDecision) -> bool:
    """Return whether help is offered with this decision, stopped texts included."""
    stopped = decision.blocked and Category.SELF_HARM in decision.categories
    return stopped or SUPPORT_OFFERED in decision.signals
