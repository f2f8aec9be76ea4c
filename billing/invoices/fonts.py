"""Names in any writing on a document: a font for each run of characters that has them.

Helvetica prints what Western Europe writes. Arimo, of the same widths, prints the rest of Latin,
Greek, Cyrillic and Hebrew, Noto prints Arabic; both are embedded. Chinese, Japanese and Korean are
printed by the fonts of Adobe's standard collections, which viewers bring and no document holds.
"""

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

from billing.invoices.bidi import is_right_to_left, visual_lines

_CHINESE, _JAPANESE, _KOREAN = "STSong-Light", "HeiseiKakuGo-W5", "HYGothic-Medium"
_FILES = Path("files")
_EMBEDDED = {
    "Arimo": Path(fontpkg_arimo.__file__).parent / _FILES / "Arimo[wght].ttf",
    "Noto Sans Arabic": (
        Path(fontpkg_noto_sans_arabic.__file__).parent / _FILES / "NotoSansArabic[wdth,wght].ttf"
    ),
}


def printable(text: str, style: ParagraphStyle, width: float) -> str:
    """`text` as markup of a paragraph: escaped, with the fonts that it needs.

    Args:
        text: any; what is no character to print is left out.
        style: the paragraph's.
        width: of the paragraph, in points: a text from right to left is broken here.
    """
    characters = "".join(c for c in text if c.isprintable())
    if not is_right_to_left(characters):
        return "".join(_markup(run, font) for font, run in _runs(characters))

    def measure(line: str) -> float:
        runs = ((font or style.fontName, run) for font, run in _runs(line))
        return sum(stringWidth(run, font, style.fontSize) for font, run in runs)

    return "<br/>".join(
        # A space that breaks would be a place for the paragraph to break it once more.
        "".join(_markup(run.replace(" ", "\u00a0"), font) for font, run in _runs(line))
        for line in visual_lines(characters, width, measure)
    )


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
    for name in _EMBEDDED:
        if ord(character) in _embedded(name):
            return name
    if "\u1100" <= character <= "\u11ff" or "\uac00" <= character <= "\ud7af":
        return _cid(_KOREAN)
    if "\u3040" <= character <= "\u30ff":
        return _cid(_JAPANESE)
    if "\u2e80" <= character <= "\u9fff" or "\uf900" <= character <= "\uffef":
        return _cid(han)
    return "Arimo"  # which prints a box where nobody here has the character


def _han_font(text: str) -> str:
    """Whose characters the Chinese ones of a text are: by what stands beside them."""
    if any("\u3040" <= character <= "\u30ff" for character in text):
        return _JAPANESE
    if any("\uac00" <= character <= "\ud7af" for character in text):
        return _KOREAN
    return _CHINESE


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
