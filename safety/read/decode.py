"""Encodings seen through: a text and what is written inside it.

`views(text)` yields the text itself and then what its encoded spans decode to, each again
searched, to a bounded depth and a bounded total size. A decoding is kept only where the result
reads like text, so that hashes, identifiers and images in data URLs cost one look and no more.
All expressions are single character classes with one quantifier: linear time.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import groupby
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np

from safety.read.confusables import LEET

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
_DIGIT = re.compile(r"[0-9]")
_PERCENT = re.compile(r"%[0-9a-fA-F]{2}")
_COMMON_PAIRS = (
    "th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le "
    "ve co me de hi ri ro ic ne ea ra ce li ch ll be ma si om ur wa wh ow ho ee ut et ot"
)
_IS_COMMON = np.zeros((32, 32), dtype=bool)
for _pair in _COMMON_PAIRS.split():
    _IS_COMMON[ord(_pair[0]) - ord("a"), ord(_pair[1]) - ord("a")] = True
CIPHER_WINDOW_WORDS = 8
MAX_WORD_LETTERS = 64
"""Letters after which a run without a border counts as another word, or it would hide others."""
MIN_PAIRS = 8
STRANGE, UNCERTAIN, ENGLISH, CLEARLY = 0.33, 0.45, 0.4, 1.4
"""Shares of common letter pairs: a run of windows below UNCERTAIN, one of them below STRANGE, is
tried as a cipher; its decoding counts from ENGLISH, where that is CLEARLY times what it was."""

MAX_SAMPLE = 2_000
"""Characters by which a run's cipher is chosen."""

_MIXED = re.compile(r"[a-zA-Z][0134578@$]|[0134578@$][a-zA-Z]")
_LEET_SIGN = re.compile(r"[0134578@$]")
_LEET_NUMBER = re.compile(r"(?<![\w@$])[0134578]{1,6}(?![\w@$])")
MIN_LEET_WORDS = 4


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
                if name == "cipher" and name in view.how:
                    continue  # what stood around the cipher would come back as one
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
    if not _DIGIT.search(text):
        return  # letters of any alphabet written as hexadecimal numbers have digits
    for pattern in (_HEX_ESCAPES, _HEX):
        for match in pattern.finditer(text):
            digits = re.sub(r"\\x|0x|[\s:,]", "", match.group())
            if (decoded := _readable(bytes.fromhex(digits))) is not None:
                yield decoded


def _binary(text: str) -> Iterator[str]:
    if not _DIGIT.search(text):
        return
    for match in _BINARY.finditer(text):
        bits = "".join(match.group().split())
        data = bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))
        if (decoded := _readable(data)) is not None:
            yield decoded


def _percent(text: str) -> Iterator[str]:
    if len(_PERCENT.findall(text, 0, MAX_DECODED)) >= 3:
        yield unquote(text[:MAX_DECODED]).replace("+", " ")


def _ciphers(text: str) -> Iterator[str]:
    """Runs of words that are not English, shifted, mirrored or reversed until they are."""
    for strange, around in _strange_runs(text[:MAX_DECODED]):
        sample = strange[:MAX_SAMPLE]
        decode = max(_CIPHERS, key=lambda cipher: likeness(cipher(sample)))
        found = likeness(decode(sample))
        if found >= ENGLISH and found > CLEARLY * likeness(sample):
            yield decode(around)


def _strange_runs(text: str) -> Iterator[tuple[str, str]]:
    """Runs of windows of CIPHER_WINDOW_WORDS words in which letter pairs are seldom English ones.

    A run consists of uncertain windows, of which one at least is strange. With each comes what
    reaches a window further on both sides: a border may lie within one.
    """
    are_pairs, are_common = _letter_pairs(text)
    starts = _word_starts(are_pairs)[::CIPHER_WINDOW_WORDS]
    if not len(starts):
        return
    pairs, common = np.add.reduceat([are_pairs, are_common], starts, axis=1, dtype=np.int64)
    uncertain = (common < UNCERTAIN * pairs) | (pairs < MIN_PAIRS)
    strange = (pairs >= MIN_PAIRS) & (common < STRANGE * pairs)
    if not strange.any():
        return
    borders = [0, *starts[1:].tolist(), len(text)]
    for is_uncertain, run in groupby(range(len(pairs)), key=uncertain.__getitem__):
        windows = list(run)
        first, end = windows[0], windows[-1] + 1
        if is_uncertain and strange[windows].any():
            wide = text[borders[max(0, first - 1)] : borders[min(end + 1, len(borders) - 1)]]
            yield text[borders[first] : borders[end]], wide


def _word_starts(are_pairs: np.ndarray) -> np.ndarray:
    """Where words of two letters and more begin, int [words], a long run's parts each."""
    places = np.arange(len(are_pairs))
    begins = np.diff(are_pairs, prepend=False) & are_pairs
    within = places - np.maximum.accumulate(np.where(begins, places, 0))
    return np.flatnonzero(are_pairs & (within % MAX_WORD_LETTERS == 0))


def _letter_pairs(text: str) -> tuple[np.ndarray, np.ndarray]:
    """For each character, bool [len(text)]: whether it and the next are both letters of ASCII,
    and whether they are a pair that is common in English."""
    codes = np.frombuffer(text.encode("latin-1", "replace"), dtype=np.uint8)
    letters = (codes | 32) - ord("a")  # uint8: what is below "a" comes out above "z"
    ahead = np.append(letters[1:], np.uint8(255))
    are_pairs = (letters < 26) & (ahead < 26)
    return are_pairs, are_pairs & _IS_COMMON[letters & 31, ahead & 31]


@lru_cache(maxsize=32_768)
def common_pairs(word: str) -> int:
    """How many pairs of letters in `word` are common in English."""
    return int(_letter_pairs(word)[1].sum())


def likeness(text: str) -> float:
    """The share of common English letter pairs: about 0.6 in English, 0.1 in ROT13."""
    are_pairs, are_common = _letter_pairs(text)
    return float(are_common.sum() / max(are_pairs.sum(), 1))


def rotated(text: str, shift: int = 13) -> str:
    """`text` with each letter moved `shift` places on in the alphabet; ROT13 by default."""
    return text.translate(_ROTATIONS[shift])


_SMALL, _LARGE = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ROTATIONS = {
    shift: str.maketrans(
        _SMALL + _LARGE,
        _SMALL[shift:] + _SMALL[:shift] + _LARGE[shift:] + _LARGE[:shift],
    )
    for shift in range(1, 26)
}
_ATBASH = str.maketrans(_SMALL + _LARGE, _SMALL[::-1] + _LARGE[::-1])
_CIPHERS: tuple[Callable[[str], str], ...] = (
    *(partial(rotated, shift=shift) for shift in _ROTATIONS),
    lambda text: text.translate(_ATBASH),
    lambda text: text[::-1],
)


def _leetspeak(text: str) -> Iterator[str]:
    """The text with bare numbers read as letters ("70" as "to"), where it mixes both in words.

    Words in which letters and digits are mixed are read by `safety.read.normalise`, which knows
    words.
    """
    sample = text[:MAX_DECODED]
    if not _LEET_SIGN.search(sample):
        return
    if len(_MIXED.findall(sample)) >= MIN_LEET_WORDS:
        yield _LEET_NUMBER.sub(lambda number: number.group().translate(LEET), sample)


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
    ("leetspeak", _leetspeak),
    ("morse", _morse),
)
