"""Writes what `safety.classifier` reads: weights as small integers, and the card beside them."""

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from safety.artefacts import CARD_FILE
from safety.training.network import TextNetwork
from safety.training.rows import CATEGORIES

NGRAM_FLOOR = 0.02
"""Smaller n-gram weights become zero: they are noise, and zeros compress."""


def arrays_of(
    network: TextNetwork, vocabulary: Sequence[str], calibration: np.ndarray
) -> dict[str, np.ndarray]:
    """The network's weights under the names that `Classifier` expects.

    Word vectors and n-gram weights are stored as int8 with a scale by column, the rest as
    float16. `calibration` is float [2, 3]: slope and shift of each head.
    """
    state = {name: value.numpy() for name, value in network.state_dict().items()}
    vectors, vector_scale = _quantised(state["words.weight"])
    ngram_weights = state["ngrams.weight"]
    ngram_weights = np.where(np.abs(ngram_weights) < NGRAM_FLOOR, 0.0, ngram_weights)
    ngrams, ngram_scale = _quantised(ngram_weights)
    arrays = {
        "vocabulary": np.array("\n".join(vocabulary)),
        "categories": np.array("\n".join(CATEGORIES)),
        "vectors": vectors,
        "vector_scale": vector_scale,
        "ngrams": ngrams,
        "ngram_scale": ngram_scale,
        "hidden": state["hidden.weight"].astype(np.float16),
        "hidden_bias": state["hidden.bias"].astype(np.float32),
        "heads": state["heads.weight"].astype(np.float16),
        "heads_bias": state["heads.bias"].astype(np.float32),
        "category": state["category.weight"].astype(np.float16),
        "category_bias": state["category.bias"].astype(np.float32),
        "calibration": calibration.astype(np.float32),
    }
    for index, width in enumerate((1, 2, 3)):
        weights = state[f"filters.{index}.weight"]  # [filters, size, width]
        flat = weights.transpose(0, 2, 1).reshape(len(weights), -1)
        arrays[f"filter{width}"] = flat.astype(np.float16)
        arrays[f"filter{width}_bias"] = state[f"filters.{index}.bias"].astype(np.float32)
    return arrays


def _quantised(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scale = np.maximum(np.abs(weights).max(axis=0), 1e-9) / 127.0
    return np.round(weights / scale).astype(np.int8), scale.astype(np.float32)


def write(files: Mapping[Path, dict[str, np.ndarray]], card: dict[str, Any]) -> dict[str, str]:
    """Store the trained files and the card that names them; returns the SHA-256 of each."""
    digests: dict[str, str] = {}
    for path, arrays in files.items():
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
        path.write_bytes(buffer.getvalue())
        digests[path.name] = hashlib.sha256(buffer.getvalue()).hexdigest()
    content = {"files": digests, **card}
    CARD_FILE.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return digests


def answer_arrays(
    weights: np.ndarray, drift: int, calibration: tuple[float, float]
) -> dict[str, np.ndarray]:
    """What `safety.answer_model` reads."""
    return {
        "weights": weights,
        "drift": np.array(drift),
        "calibration": np.array(calibration, dtype=np.float64),
    }
