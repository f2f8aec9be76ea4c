"""What training promises: splits by source, sentences from acts, screens that learn."""

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs the group safety-train")
pytest.importorskip("onnx", reason="needs the group safety-train")

from safety.answer_model import AnswerModel
from safety.features import spoken_words
from safety.grams import text_rows
from safety.normalise import Vocabulary
from safety.training.acts import act_frames, gerund, third_person
from safety.training.example import Example
from safety.training.folds import FOLDS, UnassignedGroup, check_assigned
from safety.training.linear import fit_stretches
from safety.training.sources import own_attacks, own_prompts


@pytest.mark.parametrize(
    ("act", "third", "acting"),
    [
        ("forge a passport", "forges a passport", "forging a passport"),
        ("rob a bank", "robs a bank", "robbing a bank"),
        ("push a cart", "pushes a cart", "pushing a cart"),
        ("bury a treasure", "buries a treasure", "burying a treasure"),
        ("lie under oath", "lies under oath", "lying under oath"),
        ("have lunch", "has lunch", "having lunch"),
        ("stay", "stays", "staying"),
    ],
)
def test_acts_are_inflected(act: str, third: str, acting: str) -> None:
    assert third_person(act) == third
    assert gerund(act) == acting


def test_every_own_text_has_a_fold_and_harmful_acts_have_twins() -> None:
    own = [*act_frames(), *own_prompts(), *own_attacks()]
    check_assigned(own)
    acts = [e for e in own if e.group == "own_acts"]
    harmful = [e for e in acts if e.label == "harmful"]
    assert all(e.category is not None for e in harmful)
    assert 0.5 < len(harmful) / len(acts) < 0.6
    assert sum(e.label in {"benign", "borderline"} for e in own if e.group != "own_acts") >= 1_500


def test_no_source_is_in_two_folds() -> None:
    names = [name for fold in FOLDS for name in fold]
    assert len(names) == len(set(names))


def test_a_source_without_a_fold_is_refused() -> None:
    with pytest.raises(UnassignedGroup, match="unheard_of"):
        check_assigned([Example("text", "benign", "unheard_of")])


def test_the_running_sum_learns_what_tells_two_kinds_of_text_apart() -> None:
    vocabulary = Vocabulary(["a"])
    bad = [f"steal the {thing} and hide it from the police" for thing in ("car", "ring", "purse")]
    good = [f"paint the {thing} and show it to your friends" for thing in ("car", "ring", "purse")]
    spoken = [spoken_words(text, vocabulary) for text in bad * 5 + good * 5]
    labels = [True] * 15 + [False] * 15
    weights, drift = fit_stretches([text_rows(words) for words in spoken], labels)
    model = AnswerModel(weights, drift, (0.001, 0.0))
    unseen_bad = spoken_words("steal the lamp and hide it from the police", vocabulary)
    unseen_good = spoken_words("paint the lamp and show it to your friends", vocabulary)
    assert model.peak(unseen_bad) > 2 * max(model.peak(unseen_good), 1)
    assert weights.dtype == np.int16
