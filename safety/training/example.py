"""What a labelled text is. What a label means:

- `harmful`   a request (or an answer) that the product should not serve (or send)
- `attack`    a jailbreak wrapper or an injected instruction, whatever it wraps
- `benign`    an ordinary prompt or answer
- `borderline` benign, with words that alarm: what over-refusal is measured on
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from safety.taxonomy import Category

Label = Literal["harmful", "attack", "benign", "borderline"]
Kind = Literal["prompt", "output"]
OWN_DATA = Path(__file__).resolve().parent / "data"


@dataclass(frozen=True, slots=True)
class Example:
    """One labelled text.

    Attributes:
        group: what is held out together in the evaluation: sets that share an origin.
        category: known from the source; None where it is not.
        prompt: for an output, the request that it answers.
    """

    text: str
    label: Label
    group: str
    kind: Kind = "prompt"
    category: Category | None = None
    prompt: str = ""


def lines(path: Path) -> Iterator[str]:
    """The lines of a data file that are neither empty nor comments."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.strip()


def with_line_breaks(line: str) -> str:
    """A text of a data file, in which a line break is written as `\\n`."""
    return line.replace("\\n", "\n")
