"""Our own prompts, written one by one: `data/requests/*.txt`, named after a hazard category, or
an own subject, and what sort of it they hold (`hate-texts.txt`).

A line is a sign, a space and a text; `\\n` in it is a line break. The signs: `!` harm (in
`attacks*.txt`, an attack), `=` a harmless text in the same words, `-` an ordinary prompt.
No line says how anything is done.
"""

from collections.abc import Iterator

from safety.taxonomy import Category
from safety.training.example import OWN_DATA, Example, Label, lines, with_line_breaks

FOLDER = OWN_DATA / "requests"
ATTACKS = "attacks"
_LABELS: dict[str, Label] = {"!": "harmful", "=": "borderline", "-": "benign"}


class UnsignedLine(ValueError):
    """A line of `data/requests` begins with none of the signs."""


def own_requests() -> Iterator[Example]:
    """Every text of the folder, file by file.

    Raises:
        UnsignedLine: a line does not begin with a sign.
    """
    for path in sorted(FOLDER.glob("*.txt")):
        subject, _, _ = path.stem.partition("-")
        for line in lines(path):
            yield _example(line, path.name, subject)


def _example(line: str, file: str, subject: str) -> Example:
    sign, _, text = line.partition(" ")
    if sign not in _LABELS or not text:
        raise UnsignedLine(f"{file}: {line[:60]!r} begins with none of {sorted(_LABELS)}.")
    label = _LABELS[sign]
    category = Category(subject) if subject in set(Category) else None
    if label == "harmful" and subject == ATTACKS:
        label = "attack"
    named = category if label == "harmful" else None
    return Example(with_line_breaks(text), label, "own_requests", category=named)
