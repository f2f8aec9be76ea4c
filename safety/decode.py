"""Encodings seen through: a text and what is written inside it.

`views(text)` yields the text itself and then what its encoded spans decode to, each again
searched, to a bounded depth and a bounded total size. A decoding is kept only where the result
reads like text, so that hashes, identifiers and images in data URLs cost one look and no more.
All expressions are single character classes with one quantifier: linear time.
"""

import base64
import binascii
import codecs
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple
from urllib.parse import unquote

MAX_DEPTH = 3
MAX_DECODED = 65_536
"""Characters decoded from one text in all; what lies beyond is left encoded."""

MIN_ENCODED = 16


class View(NamedTuple):
    """A reading of a text: `how` is `plain` or the decodings that led to it, outermost first."""

    text: str
    how: str


_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,65536}={0,2}")
_BASE32 = re.compile(r"[A-Z2-7]{24,65536}={0,6}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}[\s:,]?){10,32768}")
_HEX_ESCAPES = re.compile(r"(?:\\x[0-9a-fA-F]{2}|0x[0-9a-fA-F]{2}[\s,]?){6,32768}")
_BINARY = re.compile(r"(?:[01]{8}\s?){6,8192}")
_MORSE = re.compile(r"[.\-/\s\u00b7\u2013]{24,16384}")
_PERCENT = re.compile(r"%[0-9a-fA-F]{2}")
_WORDS = re.compile(r"[a-z]{2,12}")
_COMMON = frozenset(
    "the be to of and in that have it for not on with he as you do at this but his by from they "  # noqa: SIM905
    "we say her she or an will my one all would there their what so up out if about who get "
    "which go me when make can like time no just him know take how write give tell your is are "
    "ignore instructions explain build need want step guide create please".split()
)


def views(text: str) -> Iterator[View]:
    """`text`, then every decoding of it, nearest first. Linear in `len(text)` + MAX_DECODED."""
    yield View(text, "plain")
    budget = MAX_DECODED
    layer = [View(text, "")]
    seen = {text}
    for _ in range(MAX_DEPTH):
        inner: list[View] = []
        for view in layer:
            for name, decode in _DECODERS:
                for decoded in decode(view.text):
                    if decoded in seen or budget <= 0:
                        continue
                    decoded = decoded[:budget]
                    budget -= len(decoded)
                    seen.add(decoded)
                    found = View(decoded, f"{view.how}+{name}".lstrip("+"))
                    inner.append(found)
                    yield found
        layer = inner


def _readable(data: bytes) -> str | None:
    """The text in `data`, or None where it is not text: at least 90 % letters and spaces."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if len(text) < 6:
        return None
    good = sum(c.isalpha() or c in " \n.,'?!-:0123456789" for c in text)
    return text if good >= 0.9 * len(text) and any(c.isalpha() for c in text) else None


def _base64(text: str) -> Iterator[str]:
    for match in _BASE64.finditer(text):
        body = match.group().rstrip("=").replace("-", "+").replace("_", "/")
        body = body[: len(body) - (len(body) % 4 == 1)]
        try:
            data = base64.b64decode(body + "=" * (-len(body) % 4))
        except binascii.Error:
            continue
        if (decoded := _readable(data)) is not None:
            yield decoded


def _base32(text: str) -> Iterator[str]:
    for match in _BASE32.finditer(text):
        body = match.group().rstrip("=")
        try:
            data = base64.b32decode(body + "=" * (-len(body) % 8))
        except binascii.Error:
            continue
        if (decoded := _readable(data)) is not None:
            yield decoded


def _hex(text: str) -> Iterator[str]:
    for pattern in (_HEX_ESCAPES, _HEX):
        for match in pattern.finditer(text):
            digits = re.sub(r"\\x|0x|[\s:,]", "", match.group())
            if (decoded := _readable(bytes.fromhex(digits))) is not None:
                yield decoded


def _binary(text: str) -> Iterator[str]:
    for match in _BINARY.finditer(text):
        bits = "".join(match.group().split())
        data = bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))
        if (decoded := _readable(data)) is not None:
            yield decoded


def _percent(text: str) -> Iterator[str]:
    if len(_PERCENT.findall(text, 0, MAX_DECODED)) >= 3:
        yield unquote(text[:MAX_DECODED]).replace("+", " ")


def _common_words(text: str) -> int:
    return sum(word in _COMMON for word in _WORDS.findall(text))


def _ciphers(text: str) -> Iterator[str]:
    """ROT13, reversal and Atbash, where they make a text English that was not."""
    sample = text[:MAX_DECODED].lower()
    before = _common_words(sample)
    for cipher in (_rot13, _reversed, _atbash):
        after = _common_words(cipher(sample))
        if after >= 3 and after > 2 * before:
            yield cipher(text[:MAX_DECODED])


def _rot13(text: str) -> str:
    return codecs.encode(text, "rot13")


def _reversed(text: str) -> str:
    return text[::-1]


_ATBASH = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA",
)


def _atbash(text: str) -> str:
    return text.translate(_ATBASH)


_MORSE_SIGNS = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- "
    "-..- -.-- --.. ----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----."
)
_MORSE_LETTERS = dict(
    zip(_MORSE_SIGNS.split(), "abcdefghijklmnopqrstuvwxyz0123456789", strict=True)
)


def _morse(text: str) -> Iterator[str]:
    for match in _MORSE.finditer(text):
        signs = match.group().replace("\u00b7", ".").replace("\u2013", "-")
        found = [
            "".join(_MORSE_LETTERS.get(letter, "") for letter in word.split())
            for word in re.split(r"/|\s{2}", signs)
        ]
        decoded = " ".join(word for word in found if word)
        if len(decoded) >= 6:
            yield decoded


_TAG = re.compile(r"<[^<>]{1,200}>")


def _markup(text: str) -> Iterator[str]:
    """The text without its tags, so that `<b>` inside a request adds no words to it."""
    if "<" in text:
        bare = _TAG.sub("", text[:MAX_DECODED])
        if bare != text[:MAX_DECODED]:
            yield bare


_DECODERS: tuple[tuple[str, Callable[[str], Iterator[str]]], ...] = (
    ("markup", _markup),
    ("base64", _base64),
    ("base32", _base32),
    ("hex", _hex),
    ("binary", _binary),
    ("percent", _percent),
    ("cipher", _ciphers),
    ("morse", _morse),
)
