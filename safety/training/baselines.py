"""What the network has to beat: a linear model over character n-grams, on the same folds."""

from collections.abc import Sequence

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier

from safety.training.evaluation import FOLDS
from safety.training.sources import Example


def ngram_scores(examples: Sequence[Example], *, seed: int) -> np.ndarray:
    """Out-of-fold scores of "harmful or attack", float [len(examples)]; NaN for outputs."""
    prompts = [i for i, e in enumerate(examples) if e.kind == "prompt"]
    vectorizer = HashingVectorizer(analyzer="char_wb", ngram_range=(3, 5), n_features=2**18)
    features = vectorizer.transform([examples[i].text[:1500] for i in prompts])
    labels = np.array([examples[i].label in {"harmful", "attack"} for i in prompts])
    scores = np.full(len(examples), np.nan)
    for fold in FOLDS:
        held = np.array([examples[i].group in fold for i in prompts])
        model = SGDClassifier(loss="log_loss", alpha=1e-6, class_weight="balanced")
        model.set_params(random_state=seed)
        model.fit(features[~held], labels[~held])
        scores[np.array(prompts)[held]] = model.decision_function(features[held])
    return scores
