"""Text that is written from right to left, as a document that knows only left to right prints it.

A PDF places glyphs from left to right. Hebrew and Arabic are therefore put into the order in which
the eye meets them (Unicode's bidirectional algorithm, UAX 9), line by line: a paragraph that was
ordered whole and broken afterwards would begin with its end. Arabic letters are joined before.
"""

import unicodedata
from collections.abc import Callable, Iterator

from arabic_reshaper import reshape
from bidi.algorithm import get_base_level, get_display  # the other one mirrors no brackets


def is_right_to_left(text: str) -> bool:
    """Whether any character of it is of a script that runs from right to left."""
    return any(unicodedata.bidirectional(character) in ("R", "AL") for character in text)


def visual_lines(text: str, width: float, measure: Callable[[str], float]) -> list[str]:
    """`text` in lines of at most `width`, each with its characters from left to right.

    Args:
        text: in the order in which it is read.
        width: of a line, in the unit of `measure`. A word that is wider stands alone.
        measure: the width of a text as it is printed.
    """
    # The direction is the whole text's, also where a line of it has Latin words only.
    direction = "R" if get_base_level(text) else "L"
    joined = reshape(text)
    return [
        get_display(line, base_dir=direction) for line in _broken(joined.split(), width, measure)
    ]


def _broken(words: list[str], width: float, measure: Callable[[str], float]) -> Iterator[str]:
    line: list[str] = []
    for word in words:
        if line and measure(" ".join([*line, word])) > width:
            yield " ".join(line)
            line = []
        line.append(word)
    yield " ".join(line)
