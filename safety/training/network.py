"""The text network in torch: static word vectors, short convolutions, character n-grams.

Two readings of a text, added before the output: filters of one to three words over distilled
word vectors, pooled by their maximum (what was said anywhere in the text), and a hashed linear
layer over character n-grams (how it was spelled). Source of the first: Kim 2014,
"Convolutional Neural Networks for Sentence Classification".

Outputs: three logits (harmful request, attack on the product, harmful answer) and a
distribution over the hazard categories.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from safety.features import BUCKETS, PADDING

HEADS = ("harmful", "attack", "harmful_output")
WIDTHS = (1, 2, 3)
FILTERS = 64
MAX_WORDS = 128


@dataclass(frozen=True, slots=True)
class Row:
    """One training text as numbers. `targets` has NaN where a head learns nothing from it."""

    words: np.ndarray
    buckets: np.ndarray
    targets: tuple[float, float, float]
    category: int
    weight: float


class TextNetwork(nn.Module):
    """See the module's docstring. Word vectors start distilled and are tuned gently."""

    def __init__(self, vectors: np.ndarray, categories: int) -> None:
        super().__init__()
        self.words = nn.Embedding.from_pretrained(
            torch.from_numpy(vectors).float(), freeze=False, padding_idx=PADDING
        )
        size = vectors.shape[1]
        self.filters = nn.ModuleList(
            nn.Conv1d(size, FILTERS, width, padding=width) for width in WIDTHS
        )
        pooled = FILTERS * len(WIDTHS) + size
        self.hidden = nn.Linear(pooled, 96)
        self.heads = nn.Linear(96, len(HEADS))
        self.category = nn.Linear(96, categories)
        self.ngrams = nn.EmbeddingBag(BUCKETS, len(HEADS), mode="sum")
        nn.init.zeros_(self.ngrams.weight)
        self.dropout = nn.Dropout(0.4)

    def forward(self, words: Tensor, buckets: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [batch, 3] and category logits [batch, categories].

        Args:
            words: rows, int64 [batch, longest], padded with PADDING.
            buckets, offsets: the n-grams of all texts in a row, and where each text begins.
        """
        vectors = nn.functional.dropout(self.words(words), 0.1, self.training)
        real = (words != PADDING)[..., None]
        mean = (vectors * real).sum(1) / real.sum(1).clamp(min=1)
        channels = vectors.transpose(1, 2)
        pooled = [torch.relu(filters(channels)).amax(2) for filters in self.filters]
        features = self.dropout(torch.cat([*pooled, mean], dim=1))
        hidden = self.dropout(torch.relu(self.hidden(features)))
        lengths = torch.diff(offsets, append=torch.tensor([len(buckets)])).clamp(min=1)
        spelled = self.ngrams(buckets, offsets) / lengths.sqrt()[:, None]
        return self.heads(hidden) + spelled, self.category(hidden)


def collate(rows: Sequence[Row]) -> tuple[Tensor, Tensor, Tensor]:
    """The arguments of `TextNetwork.forward` for `rows`."""
    # Zeros after each text, however long its batch: the product pads every text so.
    longest = max(min(len(row.words), MAX_WORDS) for row in rows) + max(WIDTHS)
    words = np.zeros((len(rows), longest), dtype=np.int64)
    for index, row in enumerate(rows):
        kept = row.words[:MAX_WORDS]
        words[index, : len(kept)] = kept
    buckets = np.concatenate([row.buckets for row in rows]).astype(np.int64)
    offsets = np.cumsum([0] + [len(row.buckets) for row in rows[:-1]])
    return torch.from_numpy(words), torch.from_numpy(buckets), torch.from_numpy(offsets)


def train(
    rows: Sequence[Row], vectors: np.ndarray, categories: int, *, seed: int, epochs: int = 3
) -> TextNetwork:
    """A network fitted to `rows`; the same seed and rows give the same weights on one thread."""
    torch.manual_seed(seed)
    generator = np.random.default_rng(seed)
    network = TextNetwork(vectors, categories)
    tuned = {id(p) for p in (network.words.weight, network.ngrams.weight)}
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for p in network.parameters() if id(p) not in tuned], "lr": 2e-3},
            {"params": [network.words.weight], "lr": 6e-4, "weight_decay": 0.0},
            {"params": [network.ngrams.weight], "lr": 1e-2, "weight_decay": 1e-3},
        ],
        weight_decay=0.01,
    )
    network.train()
    for _ in range(epochs):
        for batch in _batches(rows, generator):
            loss = _loss(network, batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return network.eval()


def _batches(
    rows: Sequence[Row], generator: np.random.Generator, size: int = 128
) -> list[list[Row]]:
    """Shuffled batches of texts of like length, so that little is padding."""
    order = generator.permutation(len(rows))
    chunks = [order[start : start + size * 16] for start in range(0, len(order), size * 16)]
    batches = []
    for chunk in chunks:
        by_length = sorted(chunk, key=lambda i: len(rows[i].words))
        batches += [
            [rows[i] for i in by_length[start : start + size]]
            for start in range(0, len(by_length), size)
        ]
    generator.shuffle(batches)
    return batches


def _loss(network: TextNetwork, rows: Sequence[Row]) -> Tensor:
    logits, categories = network(*collate(rows))
    targets = torch.tensor([row.targets for row in rows])
    weights = torch.tensor([row.weight for row in rows])[:, None]
    known = ~targets.isnan()
    each = nn.functional.binary_cross_entropy_with_logits(
        logits, targets.nan_to_num(0.5), reduction="none"
    )
    loss = (each * weights * known).sum() / (known * weights).sum()
    labels = torch.tensor([row.category for row in rows])
    if (labels >= 0).any():
        loss = loss + 0.3 * nn.functional.cross_entropy(categories, labels, ignore_index=-1)
    return loss


@torch.inference_mode()
def predict(network: TextNetwork, rows: Sequence[Row], size: int = 128) -> np.ndarray:
    """Logits, float32 [len(rows), 3]."""
    order = sorted(range(len(rows)), key=lambda i: len(rows[i].words))
    result = np.zeros((len(rows), len(HEADS)), dtype=np.float32)
    for start in range(0, len(order), size):
        chosen = order[start : start + size]
        result[chosen] = network(*collate([rows[i] for i in chosen]))[0].numpy()
    return result
