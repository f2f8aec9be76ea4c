"""The two trainings: the screen over all passages, and the network over what it lets through."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from safety.score.encoder import SIZE
from safety.score.grams import GRAM_BITS

HIDDEN = 64
_BATCH = 1_024
_POSITIVE_WEIGHT = 4.0


@dataclass(frozen=True, slots=True)
class Screen:
    """Weights as `orders.OrdersHead` takes them."""

    weights: np.ndarray
    grams: np.ndarray

    def logits(self, means: np.ndarray, rows: list[np.ndarray]) -> np.ndarray:
        wording = np.array([self.grams[one].sum() / len(one) ** 0.5 for one in rows])
        return np.asarray(means.astype(np.float32) @ self.weights[:-1] + self.weights[-1] + wording)


def fit_screen(
    means: np.ndarray, rows: list[np.ndarray], labels: np.ndarray, *, epochs: int, seed: int
) -> Screen:
    """A logistic regression over mean vectors and grams together."""
    torch.manual_seed(seed)
    linear = nn.Linear(SIZE, 1)
    grams = nn.EmbeddingBag(1 << GRAM_BITS, 1, mode="sum")
    nn.init.zeros_(grams.weight)
    optimizer = torch.optim.Adam(
        [
            {"params": linear.parameters(), "lr": 2e-2, "weight_decay": 1e-6},
            {"params": grams.parameters(), "lr": 5e-3, "weight_decay": 1e-5},
        ]
    )
    loss_of = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(_POSITIVE_WEIGHT))
    targets = torch.from_numpy(labels.astype(np.float32))
    for _ in range(epochs):
        for batch in torch.randperm(len(labels)).split(_BATCH):
            chosen = batch.tolist()
            logits = linear(torch.from_numpy(means[chosen].astype(np.float32)))[:, 0]
            logits = logits + _wording(grams, [rows[one] for one in chosen])
            loss = loss_of(logits, targets[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    weights = torch.cat([linear.weight[0], linear.bias]).detach().numpy()
    return Screen(weights, grams.weight[:, 0].detach().numpy())


def _wording(grams: nn.EmbeddingBag, rows: list[np.ndarray]) -> Tensor:
    flat = torch.from_numpy(np.concatenate([one.reshape(-1) for one in rows]).astype(np.int64))
    lengths = torch.tensor([len(one) for one in rows])
    offsets = torch.cumsum(torch.cat([torch.zeros(1, dtype=torch.long), 3 * lengths[:-1]]), 0)
    sums: Tensor = grams(flat, offsets)[:, 0]
    return sums / lengths.sqrt()


class Network(nn.Module):
    """Over the encoder's vector and two more numbers: the screen's logit, an attack's wording."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(SIZE, HIDDEN)
        self.out = nn.Linear(HIDDEN + 2, 1)
        self.dropout = nn.Dropout(0.3)

    def forward(self, vectors: Tensor, beside: Tensor) -> Tensor:
        inner = self.dropout(torch.relu(self.hidden(vectors)))
        found: Tensor = self.out(torch.cat([inner, beside], 1))[:, 0]
        return found


def fit_network(
    vectors: np.ndarray, beside: np.ndarray, labels: np.ndarray, *, epochs: int, seed: int
) -> Network:
    """Fitted to passages.

    Args:
        beside: the two more numbers of each, float [n, 2].
    """
    torch.manual_seed(seed)
    network = Network()
    optimizer = torch.optim.AdamW(network.parameters(), lr=2e-3, weight_decay=0.05)
    loss_of = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(2.0))
    inputs = torch.from_numpy(vectors), torch.from_numpy(beside.astype(np.float32))
    targets = torch.from_numpy(labels.astype(np.float32))
    for _ in range(epochs):
        for batch in torch.randperm(len(labels)).split(512):
            loss = loss_of(network(inputs[0][batch], inputs[1][batch]), targets[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return network.eval()


def logits_of(networks: Sequence[Network], vectors: np.ndarray, beside: np.ndarray) -> np.ndarray:
    """The mean of what several networks say of passages."""
    inputs = torch.from_numpy(vectors), torch.from_numpy(beside.astype(np.float32))
    with torch.no_grad():
        found = torch.stack([network(*inputs) for network in networks]).mean(0)
    return np.asarray(found.numpy())
