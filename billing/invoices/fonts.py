"""Names in any writing on a document: a font for each run of characters that has them.

Helvetica prints what Western Europe writes. Arimo, of the same widths, prints the rest of Latin,
Greek and Cyrillic, and is embedded. Chinese, Japanese and Korean are printed by the fonts of
Adobe's standard collections, which viewers bring and no document holds.
"""

from functools import cache
from itertools import groupby
from pathlib import Path
from xml.sax.saxutils import escape

import fontpkg_arimo
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.pdfmetrics import registerFont
from reportlab.pdfbase.ttfonts import TTFont

_ARIMO, _CHINESE, _JAPANESE, _KOREAN = "Arimo", "STSong-Light", "HeiseiKakuGo-W5", "HYGothic-Medium"


def printable(text: str) -> str:
    """`text` as markup of a paragraph: escaped, with the fonts that it needs."""
    characters = "".join(c for c in text if c.isprintable())
    han = _han_font(characters)
    parts = []
    for font, run in groupby(characters, lambda character: _font_of(character, han)):
        written = escape("".join(run))
        parts.append(f'<font name="{font}">{written}</font>' if font else written)
    return "".join(parts)


def _font_of(character: str, han: str) -> str:
    """The font of one character; "" for the paragraph's own."""
    try:
        character.encode("cp1252")
        return ""
    except UnicodeEncodeError:
        pass
    if ord(character) in _arimo():
        return _ARIMO
    if "\u1100" <= character <= "\u11ff" or "\uac00" <= character <= "\ud7af":
        return _cid(_KOREAN)
    if "\u3040" <= character <= "\u30ff":
        return _cid(_JAPANESE)
    if "\u2e80" <= character <= "\u9fff" or "\uf900" <= character <= "\uffef":
        return _cid(han)
    return _ARIMO  # which prints a box where nobody here has the character


def _han_font(text: str) -> str:
    """Whose characters the Chinese ones of a text are: by what stands beside them."""
    if any("\u3040" <= character <= "\u30ff" for character in text):
        return _JAPANESE
    if any("\uac00" <= character <= "\ud7af" for character in text):
        return _KOREAN
    return _CHINESE


@cache
def _arimo() -> frozenset[int]:
    """The characters that it has."""
    font = TTFont(_ARIMO, str(Path(fontpkg_arimo.__file__).parent / "files" / "Arimo[wght].ttf"))
    registerFont(font)
    return frozenset(font.face.charToGlyph)


@cache
def _cid(name: str) -> str:
    registerFont(UnicodeCIDFont(name))
    return name
