"""`python -m safety.training.untrusted`: what becomes of honest and of hostile untrusted content.

Prints how much of each is read by a model as it is, with its spaces replaced, or not at all, by the
default policy. Honest: results of ordinary tools (`data/results/honest.txt`) and the descriptions
of the packages that are installed here, cut as pages are. Hostile: orders of our own that no
training has read (`data/results/injected.txt`), alone and amid such descriptions.
"""

import random
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import distributions

from safety.judge.policy import DEFAULT_POLICY
from safety.judge.spotlight import DATAMARK_FROM, injection_score, is_withheld
from safety.taxonomy import Category
from safety.training.example import OWN_DATA, lines, with_line_breaks

_LENGTHS = (200, 600, 2_000, 8_000)
_MIN_DESCRIPTION = 300
_SEED = 5


def main() -> None:
    refused = DEFAULT_POLICY.threshold(Category.PROMPT_INJECTION, "prompt")
    sys.stdout.write(
        f"| content | n | as it is | spaces replaced | withheld | at {refused} or more |\n"
        "|---|--:|--:|--:|--:|--:|\n"
    )
    for name, texts in corpora():
        sys.stdout.write(row(name, texts, refused))


def corpora() -> Iterator[tuple[str, list[str]]]:
    """Texts by what they are; the same for the same packages."""
    generator = random.Random(_SEED)  # noqa: S311  (not for secrets)
    honest, orders = _own("honest"), _own("injected")
    pages = descriptions()
    yield "honest: results of tools", honest
    for length in _LENGTHS:
        yield f"honest: {length:,} characters of a page", [page[:length] for page in pages]
    yield "orders alone", orders
    for length in _LENGTHS:
        amid = [_amid(order, generator.choice(pages)[:length], generator) for order in orders]
        yield f"orders amid {length:,} characters of a page", amid


def descriptions() -> list[str]:
    """What the installed packages say of themselves, by their names."""
    found = {
        package.name: str(package.metadata.json.get("description", ""))
        for package in distributions()
    }
    return [text for _, text in sorted(found.items()) if len(text) > _MIN_DESCRIPTION]


def row(name: str, texts: Sequence[str], refused: float) -> str:
    scores = [injection_score(text) for text in texts]
    withheld = sum(is_withheld(text, DEFAULT_POLICY) for text in texts)
    marked = sum(score >= DATAMARK_FROM for score in scores) - withheld
    over = sum(score >= refused for score in scores)
    count = len(texts)
    shares = (count - marked - withheld, marked, withheld, over)
    cells = " | ".join(f"{share / count:.1%}" for share in shares)
    return f"| {name} | {count} | {cells} |\n"


def _own(name: str) -> list[str]:
    return [with_line_breaks(line) for line in lines(OWN_DATA / "results" / f"{name}.txt")]


def _amid(order: str, page: str, generator: random.Random) -> str:
    """`order` between two paragraphs of `page`."""
    paragraphs = page.split("\n\n")
    paragraphs.insert(generator.randrange(len(paragraphs) + 1), order)
    return "\n\n".join(paragraphs)


if __name__ == "__main__":
    main()
