"""The training corpus: every source, near-duplicates removed, categories filled in.

Near-duplicates are removed across all groups before any split, so that a held-out group never
has a twin in training. Rows are never split at random; `group` is the unit of splitting.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from safety.lexical import rule_book
from safety.normalise import words
from safety.taxonomy import Category
from safety.training import minilm
from safety.training.sources import Example, all_examples

NEAR_DUPLICATE = 0.6
"""Share of common word trigrams from which two texts are one."""

DESCRIPTIONS: dict[Category, str] = {
    Category.VIOLENT_CRIMES: "murder, assault, kidnapping, terrorism, hurting people or animals",
    Category.NON_VIOLENT_CRIMES: "fraud, theft, drugs, money laundering, smuggling, scams, bribery",
    Category.SEX_CRIMES: "rape, sexual assault, sexual harassment, sex trafficking",
    Category.CHILD_EXPLOITATION: "sexual abuse of children, child pornography, grooming minors",
    Category.DEFAMATION: "false rumours that ruin a person's or company's reputation",
    Category.SPECIALIZED_ADVICE: "dangerous medical, financial or legal advice, fake cures",
    Category.PRIVACY: "personal data, home address, social security number, stalking, spying",
    Category.INTELLECTUAL_PROPERTY: "piracy, plagiarism, counterfeit goods, copyright violation",
    Category.INDISCRIMINATE_WEAPONS: "bombs, explosives, chemical, biological or nuclear weapons",
    Category.HATE: "racism, sexism, slurs, discrimination, harassment, bullying of groups",
    Category.SELF_HARM: "suicide, self-injury, anorexia, encouraging someone to kill themselves",
    Category.SEXUAL_CONTENT: "explicit sex, pornography, erotic stories",
    Category.ELECTIONS: "election fraud, voter suppression, political disinformation, fake news",
    Category.CODE_ABUSE: "malware, ransomware, hacking, phishing, stealing passwords, exploits",
}


def corpus() -> list[Example]:
    """Distinct examples with a category on every harmful one."""
    return with_categories(distinct(all_examples()))


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
    spoken = [word.text for word in words(text[:3000], rule_book().vocabulary)]
    if len(spoken) < 3:
        return {hash(" ".join(spoken))}
    return {hash(tuple(spoken[i : i + 3])) for i in range(len(spoken) - 2)}


def with_categories(examples: list[Example]) -> list[Example]:
    """Fill in unknown categories of harmful examples by the nearest description.

    These labels are guesses of an embedding, good enough to name a category to a person; that
    a text is harmful at all comes from its source.
    """
    unknown = [i for i, e in enumerate(examples) if e.label == "harmful" and e.category is None]
    texts = [examples[i].prompt or examples[i].text for i in unknown]
    categories = list(DESCRIPTIONS)
    prototypes = minilm.embed([DESCRIPTIONS[category] for category in categories])
    nearest = np.argmax(minilm.embed_cached("unlabelled", texts) @ prototypes.T, axis=1)
    filled = list(examples)
    for index, choice in zip(unknown, nearest, strict=True):
        filled[index] = replace(examples[index], category=categories[int(choice)])
    return filled
