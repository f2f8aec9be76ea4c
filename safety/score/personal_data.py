"""Personal data and secrets in text: where they stand and of which kind.

Own patterns rather than Presidio: that one needs a spaCy model and 50 ms a sentence. Every
pattern is a sequence of character classes with bounded repetition, and what can be verified is:
card numbers by Luhn's checksum (ISO/IEC 7812-1), IBANs by ISO 7064 mod 97.
"""

import re
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple


class Finding(NamedTuple):
    """`[start, end)` is personal data of `kind`."""

    kind: str
    start: int
    end: int

    @property
    def mask(self) -> str:
        return f"[{self.kind.replace('_', ' ')} removed]"


def luhn_valid(digits: str) -> bool:
    """Whether the last digit is the Luhn check digit of the others."""
    total = 0
    for position, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if position % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _card(text: str) -> bool:
    digits = re.sub(r"[ -]", "", text)
    return 13 <= len(digits) <= 19 and len(set(digits)) > 1 and luhn_valid(digits)


def _iban(text: str) -> bool:
    compact = text.replace(" ", "")
    moved = compact[4:] + compact[:4]
    return 15 <= len(compact) <= 34 and int("".join(str(int(c, 36)) for c in moved)) % 97 == 1


def _phone(text: str) -> bool:
    return 8 <= sum(c.isdigit() for c in text) <= 15


def _any(text: str) -> bool:
    return True


_PATTERNS: tuple[tuple[str, re.Pattern[str], Callable[[str], bool]], ...] = (
    ("private_key", re.compile(r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----"), _any),
    (
        "secret_key",
        re.compile(
            r"\b(?:sk-[A-Za-z0-9_-]{20,200}|gh[pousr]_[A-Za-z0-9]{36}|AKIA[0-9A-Z]{16}"
            r"|xox[abprs]-[A-Za-z0-9-]{10,80}|AIza[0-9A-Za-z_-]{35}"
            r"|eyJ[A-Za-z0-9_-]{10,500}\.eyJ[A-Za-z0-9_-]{10,500}\.[A-Za-z0-9_-]{10,500})"
        ),
        _any,
    ),
    ("card_number", re.compile(r"(?<![\d.-])\d(?:[ -]?\d){12,18}(?![\d-])"), _card),
    ("iban", re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b"), _iban),
    (
        "email",
        re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z]{2,24}){1,3}"),
        _any,
    ),
    ("national_id", re.compile(r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])"), _any),
    (
        "phone",
        re.compile(r"(?<![\w+])\+?\(?\d{1,4}\)?(?:[ ./-]?\(?\d{2,5}\)?){2,5}(?!\w)"),
        _phone,
    ),
)
_MAY_HOLD = re.compile(r"[\d@]|-----|\S{15}")
"""Every pattern matches something with a digit, an @, a run of hyphens, or without white space
for 15 characters: most words have none of it."""

SECRET_KEYS_BEGIN_WITH = frozenset({"sk", "gh", "AK", "xo", "AI", "ey"})
"""The first two letters of every `secret_key`."""

KINDS: tuple[str, ...] = tuple(kind for kind, _, _ in _PATTERNS)


def find_personal_data(text: str, kinds: Collection[str]) -> Iterator[Finding]:
    """What of `kinds` stands in `text`, without overlaps, in order of position."""
    if _MAY_HOLD.search(text) is None:
        return
    found: list[Finding] = []
    for kind, pattern, verify in _PATTERNS:
        if kind in kinds:
            found += [
                Finding(kind, match.start(), match.end())
                for match in pattern.finditer(text)
                if verify(match.group())
            ]
    end = 0
    for finding in sorted(found, key=lambda f: (f.start, -f.end)):
        if finding.start >= end:
            yield finding
            end = finding.end


def redact(text: str, kinds: Collection[str]) -> str:
    """`text` with every finding replaced by its mask."""
    parts, end = [], 0
    for finding in find_personal_data(text, kinds):
        parts += [text[end : finding.start], finding.mask]
        end = finding.end
    return "".join([*parts, text[end:]])
