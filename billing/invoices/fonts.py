"""Text in any writing on a document: a font for each run of characters that has them.

Helvetica prints what Western Europe writes. Arimo, of the same widths, prints the rest of Latin,
Greek, Cyrillic and Hebrew, Noto prints Arabic, Japanese and Simplified Chinese; of these the
characters that a document has are embedded in it. Rarer characters, and Korean, are printed by the
fonts of Adobe's standard collections, which viewers bring and no document holds.
"""

import math
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from xml.sax.saxutils import escape

import fontpkg_arimo
import fontpkg_noto_sans_arabic
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.pdfmetrics import registerFont, stringWidth
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from backend.platform.languages import locale
from billing.invoices.bidi import is_right_to_left, visual_lines

_CHINESE, _JAPANESE, _KOREAN = "Noto Sans SC", "Noto Sans JP", "HYGothic-Medium"
_RARE = {_CHINESE: "STSong-Light", _JAPANESE: "HeiseiKakuGo-W5"}
_NO_BREAK = "\u00a0"
_FILES = Path("files")
_FACES = Path(__file__).parent / "faces"
_EMBEDDED = {
    "Arimo": Path(fontpkg_arimo.__file__).parent / _FILES / "Arimo[wght].ttf",
    "Noto Sans Arabic": (
        Path(fontpkg_noto_sans_arabic.__file__).parent / _FILES / "NotoSansArabic[wdth,wght].ttf"
    ),
    _JAPANESE: _FACES / "NotoSansJP-Regular.ttf",
    _CHINESE: _FACES / "NotoSansSC-Regular.ttf",
}
_OF_ALPHABETS = ("Arimo", "Noto Sans Arabic")


def printable(text: str, style: ParagraphStyle, width: float) -> str:
    """`text` as markup of a paragraph: escaped, with the fonts that it needs.

    Args:
        text: any; what is no character to print is left out.
        style: the paragraph's.
        width: of the paragraph, in points: a text from right to left is broken here.
    """
    characters = "".join(c for c in text if c.isprintable() or c == _NO_BREAK)
    if not is_right_to_left(characters):
        return "".join(_markup(run, font) for font, run in _runs(characters))

    def measure(line: str) -> float:
        runs = ((font or style.fontName, run) for font, run in _runs(line))
        return sum(stringWidth(run, font, style.fontSize) for font, run in runs)

    return "<br/>".join(
        # A space that breaks would be a place for the paragraph to break it once more.
        "".join(_markup(run.replace(" ", _NO_BREAK), font) for font, run in _runs(line))
        for line in visual_lines(characters, width, measure)
    )


def draw(
    canvas: Canvas, text: str, font: str, size: float, *, x: float, y: float, anchor: float = 0
) -> None:
    """One line beside the paragraphs.

    Args:
        font: for what needs no other.
        x: in points, of the line's left edge; of its middle or right edge by `anchor` 0.5 or 1.
    """
    line = visual_lines(text, math.inf, len)[0] if is_right_to_left(text) else text
    runs = [(name or font, run) for name, run in _runs(line)]
    x -= anchor * sum(stringWidth(run, name, size) for name, run in runs)
    for name, run in runs:
        canvas.setFont(name, size)
        canvas.drawString(x, y, run)
        x += stringWidth(run, name, size)


def _markup(run: str, font: str) -> str:
    return f'<font name="{font}">{escape(run)}</font>' if font else escape(run)


def _runs(characters: str) -> Iterator[tuple[str, str]]:
    """Each font and the characters that follow each other in it."""
    han = _han_font(characters)
    for font, run in groupby(characters, lambda character: _font_of(character, han)):
        yield font, "".join(run)


def _font_of(character: str, han: str) -> str:
    """The font of one character; "" for the paragraph's own."""
    try:
        character.encode("cp1252")
        return ""
    except UnicodeEncodeError:
        pass
    for name in _OF_ALPHABETS:
        if ord(character) in _embedded(name):
            return name
    if "\u1100" <= character <= "\u11ff" or "\uac00" <= character <= "\ud7af":
        return _cid(_KOREAN)
    if "\u2e80" <= character <= "\u9fff" or "\uf900" <= character <= "\uffef":
        if han == _KOREAN or ord(character) not in _embedded(han):
            return _cid(_RARE.get(han, _KOREAN))
        return han
    return "Arimo"  # which prints a box where nobody here has the character


def _han_font(text: str) -> str:
    """Whose characters the Chinese ones of a text are: by what stands beside them, and where
    nothing does by the document's language."""
    if any("\u3040" <= character <= "\u30ff" for character in text):
        return _JAPANESE
    if any("\uac00" <= character <= "\ud7af" for character in text):
        return _KOREAN
    return _JAPANESE if locale().language == "ja" else _CHINESE


@cache
def _embedded(name: str) -> frozenset[int]:
    """The characters that it has."""
    font = TTFont(name, str(_EMBEDDED[name]))
    registerFont(font)
    return frozenset(font.face.charToGlyph)


@cache
def _cid(name: str) -> str:
    registerFont(UnicodeCIDFont(name))
    return name
