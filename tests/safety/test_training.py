"""What training promises: splits by source, sentences from acts, screens that learn."""

from collections import Counter

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs the group safety-train")
pytest.importorskip("onnx", reason="needs the group safety-train")

from safety.read.normalise import Vocabulary
from safety.score.answer_model import AnswerModel
from safety.score.encoder import SIZE
from safety.score.features import normalized_words
from safety.score.grams import GRAM_BITS, text_rows
from safety.score.screens import embedding_screen_logits
from safety.training.acts import act_frames, gerund, third_person
from safety.training.calibration import ATTACK_POINTS, HARM_POINTS, calibration
from safety.training.embedding_screen import PASSED_ON, fit_embedding_screen
from safety.training.example import Example
from safety.training.folds import EXAM, FOLDS, OWN, UnassignedGroup, check_assigned
from safety.training.heads import ATTACK, OUTPUTS
from safety.training.linear import fit_windows
from safety.training.ordinary_answers import ordinary_answers
from safety.training.prompts import attack_weight, with_linear
from safety.training.requests import UnsignedLine, own_requests
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
    names = [name for fold in (*FOLDS, OWN, EXAM) for name in fold]
    assert len(names) == len(set(names))


def test_source_without_a_fold_is_refused() -> None:
    with pytest.raises(UnassignedGroup, match="unheard_of"):
        check_assigned([Example("text", "benign", "unheard_of")])


def test_cheap_score_is_higher_for_unseen_text_of_the_harmful_kind() -> None:
    vocabulary = Vocabulary(["a"])
    bad = [f"steal the {thing} and hide it from the police" for thing in ("car", "ring", "purse")]
    good = [f"paint the {thing} and show it to your friends" for thing in ("car", "ring", "purse")]
    normalized = [normalized_words(text, vocabulary) for text in bad * 5 + good * 5]
    labels = [True] * 15 + [False] * 15
    weights, drift = fit_windows([text_rows(words) for words in normalized], labels)
    model = AnswerModel(weights, drift, 1 << 20, np.zeros(SIZE + 1), (1.0, 0.0))
    unseen_bad = normalized_words("steal the lamp and hide it from the police", vocabulary)
    unseen_good = normalized_words("paint the lamp and show it to your friends", vocabulary)
    assert model.peak(unseen_bad) > 2 * max(model.peak(unseen_good), 1)
    assert weights.dtype == np.int16


def test_cheap_score_begins_at_zero_after_the_verifier_dismissed_it() -> None:
    weights = np.full(1 << GRAM_BITS, 10, dtype=np.int16)
    model = AnswerModel(weights, -20, 35, np.zeros(SIZE + 1), (1.0, 0.0))
    assert model.verified_at(["word"] * 12) == [3, 7, 11]


def test_ordinary_answers_are_in_two_training_groups_and_the_exam() -> None:
    answers = list(ordinary_answers())
    check_assigned(answers)
    groups = Counter(e.group for e in answers)
    assert all(groups[f"ordinary_answers_{half}"] >= 150 for half in ("even", "odd"))
    assert groups["ordinary_answers_exam"] >= 100
    assert "ordinary_answers_exam" in EXAM


def test_network_and_linear_model_vary_alike_over_ordinary_prompts() -> None:
    scores = np.random.default_rng(0).normal(size=(400, OUTPUTS + 1))
    scores[:, -1] *= 300.0
    weight = attack_weight(scores, np.ones(400, dtype=bool))
    assert np.std(weight * scores[:, ATTACK]) == pytest.approx(np.std(scores[:, -1]))
    assert with_linear(scores, weight).shape == (400, 2)


def test_calibration_puts_the_wanted_share_of_ordinary_prompts_below_the_threshold() -> None:
    ordinary = np.random.default_rng(0).normal(size=(20_000, 2))
    slope, shift = calibration(ordinary)
    scores = 1.0 / (1.0 + np.exp(-(slope * ordinary + shift)))
    assert (scores[:, 0] < 0.8).mean() == pytest.approx(HARM_POINTS[1], abs=0.002)
    assert (scores[:, 1] < 0.5).mean() == pytest.approx(ATTACK_POINTS[0], abs=0.002)


def test_own_requests_cover_the_taxonomy_with_as_many_harmless_twins() -> None:
    requests = list(own_requests())
    check_assigned(requests)
    labels = Counter(e.label for e in requests)
    stopped = labels["harmful"] + labels["attack"]
    assert 0.8 < stopped / labels["borderline"] < 1.25
    assert labels["attack"] >= 200
    assert labels["benign"] >= 1_000
    named = Counter(e.category for e in requests if e.category)
    assert len(named) >= 12
    assert min(named.values()) >= 100


def test_line_without_a_sign_is_refused(tmp_path, monkeypatch) -> None:
    (tmp_path / "hate.txt").write_text("# a comment\n! first\nsecond\n")
    monkeypatch.setattr("safety.training.requests.FOLDER", tmp_path)
    with pytest.raises(UnsignedLine, match="second"):
        list(own_requests())


def test_embedding_screen_passes_harm_and_the_wanted_share_of_the_ordinary() -> None:
    chance = np.random.default_rng(0)
    mean_embeddings = chance.normal(size=(2_000, SIZE))
    mean_embeddings[:500, 0] += 8.0
    mean_embeddings /= np.linalg.norm(mean_embeddings, axis=1, keepdims=True)
    bad = np.arange(2_000) < 500
    screen = fit_embedding_screen(mean_embeddings, bad, ~bad, amid=np.zeros(2_000, dtype=bool))
    assert screen.passes(mean_embeddings[bad]).mean() > 0.99
    assert screen.passes(mean_embeddings[~bad]).mean() == pytest.approx(PASSED_ON, abs=0.01)


def test_embedding_screen_follows_the_windows_amid_other_words_when_labels_conflict() -> None:
    """Two kinds of harm that contradict each other: the screen follows those amid other words."""
    chance = np.random.default_rng(0)
    mean_embeddings = chance.normal(size=(2_000, SIZE))
    alone, amid = np.arange(2_000) < 500, np.arange(2_000) >= 1_500
    mean_embeddings[:1_000, 0] += 8.0
    mean_embeddings[1_000:, 0] -= 8.0
    mean_embeddings /= np.linalg.norm(mean_embeddings, axis=1, keepdims=True)
    bad = alone | amid
    screen = fit_embedding_screen(mean_embeddings, bad, ~bad, amid)
    of_amid, of_alone = (
        embedding_screen_logits(mean_embeddings[rows], screen.weights).mean()
        for rows in (amid, alone)
    )
    assert of_amid > of_alone + 1.0
