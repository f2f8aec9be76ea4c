"""A text cut into what is spoken at a time: sentences, long ones at a pause.

Invariant: joined they are the text, so that characters can be counted by them.
"""

import re

_MAX = 300
_END = re.compile(r"(?<=[.!?…。！？])[\"')\]”’]*\s+|\n+")
_PAUSE = re.compile(r"(?<=[,;:–—])\s+|(?<!\s)\s++(?=[–—(])")
_SPACE = re.compile(r"\s+")


def sentences(text: str) -> list[str]:
    """The parts of `text`, in order. What is only space belongs to the part before it."""
    parts: list[str] = []
    for sentence in _cut(text, _END):
        parts += _bounded(sentence)
    joined: list[str] = []
    for part in parts:
        if joined and not any(c.isalnum() for c in part):
            joined[-1] += part
        else:
            joined.append(part)
    return joined


def _bounded(sentence: str) -> list[str]:
    """Itself, or parts of at most `_MAX` characters: cut at a pause, else between words."""
    parts = []
    while len(sentence) > _MAX:
        cuts = [match.end() for match in _PAUSE.finditer(sentence, 0, _MAX)]
        cuts = cuts or [match.end() for match in _SPACE.finditer(sentence, 0, _MAX)]
        cut = cuts[-1] if cuts else _MAX
        parts.append(sentence[:cut])
        sentence = sentence[cut:]
    return [*parts, sentence] if sentence else parts


def _cut(text: str, border: re.Pattern[str]) -> list[str]:
    """`text` cut after each border."""
    ends = [match.end() for match in border.finditer(text)]
    starts = [0, *ends]
    return [text[a:b] for a, b in zip(starts, [*ends, len(text)], strict=True) if b > a]
