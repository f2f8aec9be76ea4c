"""Stores an answer that has ended for later requests, where its organization wants that."""

from collections.abc import Sequence

from backend.generation.models import GenerationState
from backend.generation.records import Checked
from backend.generation.reuse.finder import Finder
from backend.generation.reuse.plan import ReusableAnswer
from backend.generation.run.active import ActiveGeneration
from backend.generation.run.outcome import Outcome
from safety.types import Action

_WHOLE = frozenset({"stop", "length"})
"""Of the reasons for which answers end, those with which they may be stored."""


async def answer_keep(
    finder: Finder, active: ActiveGeneration, outcome: Outcome, checked: Sequence[Checked]
) -> None:
    """Called between its terminal transaction and `[DONE]`, so that who asks again then finds it.

    Only what is whole, was computed here, and has no finding, of its stream or of its review.
    """
    plan, choice = active.reuse, active.choices[0]
    if plan is None or not plan.stores or not plan.computes or active.prompt.cached_output_tokens:
        return
    if outcome.state != GenerationState.COMPLETED or outcome.finish_reason not in _WHOLE:
        return
    if any(answer.decision.action is not Action.ALLOW for answer in checked):
        return
    answer = ReusableAnswer(
        choice.text,
        active.prompt.input_tokens,
        choice.tokens,
        choice.reasoning_tokens,
        choice.finish_reason or outcome.finish_reason,
    )
    await finder.keep(plan, active.admitted, answer)
