"""From examples to training rows: vocabulary, word vectors, targets, mixtures.

Mixtures make up for what single prompts lack: a harmful request inside a long harmless text is
harmful, one wrapped in a jailbreak is both, and politeness or length alone prove nothing.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import nan

import numpy as np

from safety.features import ngram_buckets, spoken_words, word_rows
from safety.lexical import rule_book
from safety.normalise import Vocabulary
from safety.taxonomy import Category
from safety.training import minilm
from safety.training.network import Row
from safety.training.sources import Example

VECTOR_SIZE = 64
MINILM_WORDS = 8_000
"""Of its vocabulary, which is ordered roughly by frequency."""

CATEGORIES: tuple[Category, ...] = tuple(c for c in Category if c is not Category.PROMPT_INJECTION)
_POLITE = (
    "Please {}",
    "Hi! {}",
    "{} Thanks!",
    "Can you help me? {}",
    "I have a question. {}",
    "For a class: {}",
    "{} Answer in detail, step by step.",
    "hello {} thank you",
)


def vocabulary_for(examples: Sequence[Example]) -> list[str]:
    """Words with a vector: MiniLM's own, the rules', and those that three texts share."""
    rules = rule_book().vocabulary
    counts: Counter[str] = Counter()
    for example in examples:
        counts.update(set(spoken_words(example.text[:2500], rules)))
    common = {word for word, count in counts.items() if count >= 3 and 1 < len(word) < 24}
    frequent = set(minilm.vocabulary()[:MINILM_WORDS])
    return sorted(common | frequent | {"0", "a", "i"} | set(rules.words()))


def word_vectors(vocabulary: Sequence[str]) -> np.ndarray:
    """Distilled vectors, float32 [2 + len(vocabulary), VECTOR_SIZE]; rows 0 and 1 are special.

    MiniLM's input embeddings; the principal components are kept and whitened
    mildly, so that no direction drowns the others.
    """
    embedded = minilm.word_embeddings(vocabulary)
    centred = embedded - embedded.mean(axis=0)
    strengths, components = np.linalg.eigh(centred.T @ centred)
    strengths, components = np.sqrt(strengths[::-1]), components.T[::-1]
    reduced = centred @ components[:VECTOR_SIZE].T
    reduced /= np.sqrt(strengths[:VECTOR_SIZE] / strengths[0])
    reduced *= 0.5 / reduced.std()
    special = np.zeros((2, VECTOR_SIZE))
    return np.concatenate([special, reduced]).astype(np.float32)


class RowMaker:
    """Turns examples into rows with one vocabulary."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.rows = {word: index + 2 for index, word in enumerate(vocabulary)}
        self.known = Vocabulary(vocabulary)

    def row(self, example: Example, *, weight: float = 1.0) -> Row:
        spoken = spoken_words(example.text[:2500], self.known)
        return Row(
            words=word_rows(spoken, self.rows),
            buckets=ngram_buckets(spoken),
            targets=_targets(example),
            category=CATEGORIES.index(example.category) if example.category else -1,
            weight=weight,
        )

    def rows_of(self, examples: Sequence[Example]) -> list[Row]:
        return [self.row(example) for example in examples]


def _targets(example: Example) -> tuple[float, float, float]:
    harmful = float(example.label == "harmful")
    if example.kind == "output":
        return (nan, nan, harmful)
    if example.label == "attack":
        return (nan, 1.0, nan)
    # An ordinary prompt is an ordinary text too; a harmful one proves nothing about answers.
    return (harmful, 0.0, nan if harmful else 0.0)


def mixtures(examples: Sequence[Example], *, seed: int) -> list[Example]:
    """Combinations of `examples`, made only of what is among them."""
    generator = np.random.default_rng(seed)
    prompts = [e for e in examples if e.kind == "prompt"]
    harmful = [e for e in prompts if e.label == "harmful"]
    benign = [e for e in prompts if e.label in {"benign", "borderline"}]
    attacks = [e for e in prompts if e.label == "attack"]
    mixed: list[Example] = []

    def pick(among: Sequence[Example]) -> Example:
        return among[int(generator.integers(len(among)))]

    for example in harmful:
        before, after = pick(benign).text[:1200], pick(benign).text[:600]
        where = int(generator.integers(4))
        text = (f"{before}\n{example.text}", f"{example.text}\n{after}")[where % 2]
        if where >= 2:
            text = f"{before}\n{text}\n{after}"
        mixed.append(replace(example, text=text))
    for example in [*harmful, *(pick(benign) for _ in harmful)]:
        template = _POLITE[int(generator.integers(len(_POLITE)))]
        mixed.append(replace(example, text=template.format(example.text)))
    mixed += [
        replace(pick(benign), text=f"{pick(benign).text}\n{pick(benign).text}") for _ in harmful
    ]
    for example in attacks:
        mixed.append(replace(example, text=f"{pick(benign).text[:800]}\n{example.text[:1500]}"))
        mixed.append(replace(example, text=f"{example.text[:1500]}\n{pick(harmful).text}"))
    return mixed
