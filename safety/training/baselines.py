"""What the classifiers have to beat, on the same folds: each gives a score to every prompt."""

import io
from collections.abc import Sequence

import joblib
import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression

from safety.read.normalise import words
from safety.score.encoder import Encoder, WordPieces
from safety.score.features import normalized_words
from safety.score.rules import rule_book
from safety.score.screens import WINDOW_WORDS
from safety.training.answers import encoded
from safety.training.example import Example
from safety.training.export import encoder_graph
from safety.training.folds import EXAM, FOLDS
from safety.training.minilm import MiniLM, piece_table
from safety.training.packages import PROFANITY_CHECK

MAX_CHARACTERS = 1_500


def keyword_scores(prompts: Sequence[Example]) -> np.ndarray:
    """How many phrases of the rules' anchors ("pipe bomb", "meth") a text holds: a plain list of
    alarming words, as a filter without any context would use it."""
    book = rule_book()
    anchors = {rule.groups[0] for rule in book.rules}
    return np.array(
        [
            sum(hit.group in anchors for hit in book.hits(words(e.text[:4000], book.vocabulary)))
            for e in prompts
        ],
        dtype=float,
    )


def profanity_scores(prompts: Sequence[Example]) -> np.ndarray:
    """alt-profanity-check's probability, from the model inside its wheel."""
    folder = "profanity_check/data"
    vectorizer = joblib.load(io.BytesIO(PROFANITY_CHECK.read_bytes(f"{folder}/vectorizer.joblib")))
    model = joblib.load(io.BytesIO(PROFANITY_CHECK.read_bytes(f"{folder}/model.joblib")))
    features = vectorizer.transform([e.text[:MAX_CHARACTERS] for e in prompts])
    return np.asarray(model.predict_proba(features)[:, 1])


def ngram_scores(prompts: Sequence[Example]) -> np.ndarray:
    """A linear model over character n-grams, out of fold."""
    vectorizer = HashingVectorizer(analyzer="char_wb", ngram_range=(3, 5), n_features=2**18)
    return _out_of_fold(prompts, vectorizer.transform([e.text[:MAX_CHARACTERS] for e in prompts]))


def embedding_scores(prompts: Sequence[Example]) -> np.ndarray:
    """A linear model over MiniLM's vectors of each text's beginning as they come in the wheel."""
    table, arrays = piece_table()
    pieces = WordPieces(table, arrays["piece_vectors"], arrays["piece_scales"], arrays["positions"])
    encoder = Encoder(pieces, encoder_graph(MiniLM()))
    vocabulary = rule_book().vocabulary
    windows = [normalized_words(e.text[:300], vocabulary)[:WINDOW_WORDS] for e in prompts]
    return _out_of_fold(prompts, sparse.csr_matrix(encoded(windows, encoder)))


def _out_of_fold(prompts: Sequence[Example], features: sparse.csr_matrix) -> np.ndarray:
    """Scores of "harmful or attack" by a logistic regression that saw no kin; the exam's by one
    that saw everything else."""
    bad = np.array([e.label in {"harmful", "attack"} for e in prompts])
    scores = np.zeros(len(prompts))
    exam = np.array([e.group in EXAM for e in prompts])
    for fold in (*FOLDS, EXAM):
        held = np.array([e.group in fold for e in prompts])
        model = LogisticRegression(
            C=10.0, solver="liblinear", class_weight="balanced", random_state=0
        )
        seen = ~held & ~exam
        model.fit(features[np.flatnonzero(seen)], bad[seen])
        scores[held] = model.decision_function(features[np.flatnonzero(held)])
    return scores
