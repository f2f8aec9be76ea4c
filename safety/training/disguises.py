"""Ways to disguise a text, for measuring robustness and for the red team. Each is one line of
what an attacker would do by hand; `safety.read.normalise` and `safety.read.decode` undo them."""

import base64
import codecs
from collections.abc import Callable
from urllib.parse import quote

_LEET = str.maketrans("aeiost", "431057")
_CYRILLIC = str.maketrans("aeopcxy", "\u0430\u0435\u043e\u0440\u0441\u0445\u0443")


def _fullwidth(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


def _zero_width(text: str) -> str:
    return "\u200b".join(text)


def _spaced(text: str) -> str:
    return "  ".join(" ".join(word) for word in text.split())


def _markup(text: str) -> str:
    return " ".join(
        f"<b>{word}</b>" if i % 3 else f"**{word}**" for i, word in enumerate(text.split())
    )


def _tags(text: str) -> str:
    return "".join(chr(0xE0000 + ord(c)) for c in text if " " <= c <= "~")


DISGUISES: dict[str, Callable[[str], str]] = {
    "plain": str,
    "upper case": str.upper,
    "leetspeak": lambda text: text.translate(_LEET),
    "look-alikes": lambda text: text.translate(_CYRILLIC),
    "full width": _fullwidth,
    "zero width": _zero_width,
    "combining marks": lambda text: "".join(c + "\u0336" if c.isalpha() else c for c in text),
    "letters spaced out": _spaced,
    "markup": _markup,
    "Unicode tags": _tags,
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 twice": lambda text: base64.b64encode(base64.b64encode(text.encode())).decode(),
    "hex": lambda text: text.encode().hex(),
    "URL encoding": lambda text: quote(text, safe=""),
    "ROT13": lambda text: codecs.encode(text, "rot13"),
    "reversed": lambda text: text[::-1],
}
