"""The training corpus: every source, near-duplicates removed.

Near-duplicates are removed across all groups before any split, so that a held-out group never
has a twin in training. Rows are never split at random; `group` is the unit of splitting.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable

from safety.read.normalise import words
from safety.score.rules import rule_book
from safety.training.example import Example
from safety.training.sources import all_examples

NEAR_DUPLICATE = 0.6
"""Share of common word trigrams from which two texts are one."""


def corpus() -> list[Example]:
    """Every distinct example; the same ones in the same order every time."""
    return distinct(all_examples())


def distinct(examples: Iterable[Example]) -> list[Example]:
    """`examples` without near-duplicates of the same kind; the first of each stays."""
    kept: list[Example] = []
    sizes: list[int] = []
    holders: dict[tuple[str, int], list[int]] = defaultdict(list)
    for example in examples:
        shingles = _shingles(example.text)
        shared: dict[int, int] = defaultdict(int)
        for shingle in shingles:
            for other in holders[example.kind, shingle][:50]:
                shared[other] += 1
        if any(
            common / (len(shingles) + sizes[other] - common) >= NEAR_DUPLICATE
            for other, common in shared.items()
        ):
            continue
        for shingle in shingles:
            holders[example.kind, shingle].append(len(kept))
        sizes.append(len(shingles))
        kept.append(example)
    return kept


def _shingles(text: str) -> set[int]:
    folded = [word.text for word in words(text[:3000], rule_book().vocabulary)]
    if len(folded) < 3:
        return {hash(" ".join(folded))}
    return {hash(tuple(folded[i : i + 3])) for i in range(len(folded) - 2)}


def corpus_digest(examples: Iterable[Example]) -> str:
    """SHA-256 over every text and label, in order."""
    digest = hashlib.sha256()
    for e in examples:
        digest.update(f"{e.group}|{e.kind}|{e.label}|{e.text}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
