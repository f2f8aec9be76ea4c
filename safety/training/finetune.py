"""Trains MiniLM's upper layers and the heads over them, together, on one core in minutes.

The lower FROZEN layers stay as they are, so each window passes them once and what comes out is
kept; an epoch then costs two thirds of the network. Same rows, seed and processor: same weights.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from safety.score.encoder import SIZE, WordPieces
from safety.training.heads import ATTACK, FIRST_CATEGORY, HARM, OUTPUTS, Heads, Rows
from safety.training.minilm import MiniLM

FROZEN = 2
EPOCHS = 2
BATCH = 64
READ_BATCH = 128
STEP, HEAD_STEP = 1.5e-4, 2e-3
WARM_UP = 0.06
HIDDEN = 192
SPREAD = 18.0
"""Brings the parts of a unit vector to about one, which the head's step size is chosen for."""

CERTAINTY = 0.98
"""No label is taken for more certain than this."""

ATTACK_SHARE, CATEGORY_SHARE = 0.5, 0.3
_PADDING = -1e4


@dataclass(frozen=True, slots=True)
class Tuned:
    """A trained network: `encoder` for the export, `heads` as numbers."""

    encoder: MiniLM
    heads: Heads


class LowerLayers:
    """What the frozen layers make of each window, float16 [pieces, SIZE] each."""

    def __init__(self, pieces: WordPieces, rows: Sequence[Sequence[int]]) -> None:
        network = MiniLM().eval()
        self._states: list[Tensor] = [torch.empty(0)] * len(rows)
        order = np.argsort([len(row) for row in rows], kind="stable")
        with torch.no_grad():
            for start in range(0, len(order), READ_BATCH):
                chosen = order[start : start + READ_BATCH]
                texts, hidden = _padded([torch.from_numpy(pieces.vectors(rows[i])) for i in chosen])
                texts = network.norm(texts)
                for layer in list(network.layers)[:FROZEN]:
                    texts = layer(texts, hidden)
                for place, i in enumerate(chosen):
                    self._states[i] = texts[place, : len(rows[i])].half().clone()

    def lengths(self, chosen: np.ndarray) -> np.ndarray:
        return np.array([len(self._states[i]) for i in chosen])

    def batch(self, chosen: np.ndarray) -> tuple[Tensor, Tensor]:
        """The states of the windows `chosen`, padded, and what hides the padding."""
        return _padded([self._states[i].float() for i in chosen])


def _padded(states: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    texts = nn.utils.rnn.pad_sequence(list(states), batch_first=True)
    lengths = torch.tensor([len(state) for state in states])
    beyond = torch.arange(texts.shape[1])[None] >= lengths[:, None]
    return texts, beyond[:, None, None].float() * _PADDING


class _Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = MiniLM()
        for part in (self.encoder.norm, *list(self.encoder.layers)[:FROZEN]):
            part.requires_grad_(False)
        self.loosen = nn.Dropout(0.1)
        self.head = nn.Sequential(
            nn.Linear(SIZE, HIDDEN), nn.ReLU(), nn.Dropout(0.2), nn.Linear(HIDDEN, OUTPUTS)
        )

    def forward(self, texts: Tensor, hidden: Tensor) -> Tensor:
        texts = self.loosen(texts)
        for layer in list(self.encoder.layers)[FROZEN:]:
            texts = layer(texts, hidden)
        there = (hidden[:, 0, 0] == 0).float()[:, :, None]
        mean = (texts * there).sum(1) / there.sum(1)
        found: Tensor = self.head(nn.functional.normalize(mean, dim=-1) * SPREAD)
        return found


class Tuning:
    """One network in training and after it."""

    def __init__(self, lower: LowerLayers, *, seed: int) -> None:
        torch.manual_seed(seed)
        self._chance = np.random.default_rng(seed)
        self._lower = lower
        self._network = _Network()

    def fit(self, rows: Rows, chosen: np.ndarray, report: Callable[[str], None]) -> None:
        """Learn from the rows `chosen` (indices into `rows` and into the lower layers)."""
        targets = _Targets(rows, chosen)
        upper = list(self._network.encoder.layers)[FROZEN:]
        optimizer = torch.optim.AdamW(
            [
                {"params": [p for layer in upper for p in layer.parameters()], "lr": STEP},
                {"params": self._network.head.parameters(), "lr": HEAD_STEP},
            ],
            weight_decay=0.01,
        )
        steps = EPOCHS * math.ceil(len(chosen) / BATCH)
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: min(1.0, (step + 1) / (WARM_UP * steps)) * (1 - step / steps)
        )
        self._network.train()
        for epoch in range(EPOCHS):
            for batch in self._batches(chosen):
                texts, hidden = self._lower.batch(chosen[batch])
                loss = targets.loss(self._network(texts, hidden), batch)
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self._network.parameters(), 1.0)
                optimizer.step()
                schedule.step()
            report(f"epoch {epoch + 1} of {EPOCHS}, {len(chosen)} windows")
        self._network.eval()

    def _batches(self, chosen: np.ndarray) -> Iterator[np.ndarray]:
        """Places in `chosen`, in random order, each batch of windows of like length."""
        order = self._chance.permutation(len(chosen))
        lengths = self._lower.lengths(chosen)
        batches: list[np.ndarray] = []
        for start in range(0, len(order), 40 * BATCH):
            part = order[start : start + 40 * BATCH]
            part = part[np.argsort(lengths[part], kind="stable")]
            batches += [part[i : i + BATCH] for i in range(0, len(part), BATCH)]
        for number in self._chance.permutation(len(batches)):
            yield batches[number]

    def logits(self, chosen: np.ndarray) -> np.ndarray:
        """The outputs for the windows `chosen`, float32 [len(chosen), OUTPUTS]."""
        found = np.zeros((len(chosen), OUTPUTS), dtype=np.float32)
        order = np.argsort(self._lower.lengths(chosen), kind="stable")
        with torch.no_grad():
            for start in range(0, len(order), READ_BATCH):
                batch = order[start : start + READ_BATCH]
                found[batch] = self._network(*self._lower.batch(chosen[batch])).numpy()
        return found

    def tuned(self) -> Tuned:
        first = cast(nn.Linear, self._network.head[0])
        last = cast(nn.Linear, self._network.head[3])
        return Tuned(
            self._network.encoder,
            Heads(
                first.weight.detach().numpy() * np.float32(SPREAD),
                first.bias.detach().numpy(),
                last.weight.detach().numpy(),
                last.bias.detach().numpy(),
            ),
        )


class _Targets:
    """What the chosen rows teach. Harm and its absence weigh the same in all, so do attacks."""

    def __init__(self, rows: Rows, chosen: np.ndarray) -> None:
        part = rows.only(chosen)
        self._harm = _softened(part.harmful)
        self._attack = _softened(part.attack)
        self._categories = torch.from_numpy(part.categories).long()
        self._harm_weights = _balanced(part.harm_weights, part.harmful, 1.0)
        self._attack_weights = _balanced(part.attack_weights, part.attack, 0.5)

    def loss(self, logits: Tensor, batch: np.ndarray) -> Tensor:
        rows = torch.from_numpy(batch)
        harm = _binary(logits[:, HARM], self._harm[rows], self._harm_weights[rows])
        attack = _binary(logits[:, ATTACK], self._attack[rows], self._attack_weights[rows])
        loss = harm + ATTACK_SHARE * attack
        categories = self._categories[rows]
        if (categories >= 0).any():
            loss = loss + CATEGORY_SHARE * nn.functional.cross_entropy(
                logits[:, FIRST_CATEGORY:], categories, ignore_index=-1
            )
        return loss


def _softened(labels: np.ndarray) -> Tensor:
    return torch.from_numpy(np.where(labels, CERTAINTY, 1.0 - CERTAINTY)).float()


def _balanced(weights: np.ndarray, positive: np.ndarray, share: float) -> Tensor:
    """`weights` with a mean of one, the positive rows' sum being `share` of the others' sum."""
    scale = share * weights[~positive].sum() / max(weights[positive].sum(), 1e-9)
    weights = np.where(positive, scale, 1.0) * weights
    return torch.from_numpy(weights / weights.mean()).float()


def _binary(logits: Tensor, wanted: Tensor, weights: Tensor) -> Tensor:
    each = nn.functional.binary_cross_entropy_with_logits(logits, wanted, reduction="none")
    return (each * weights).mean()
