"""What is counted and priced: kinds of tokens, seconds and characters. `Kind` is the one table of
them.

Upstreams report inclusive numbers (a prompt's tokens contain its cached ones), as OpenAI does;
the ledger keeps them so, because users compare them with what the API reported. Prices apply to
disjoint quantities, and this module is the only place that turns the one into the other.

The columns of ledger, event store, rollups and invoice lines, the fields of the event, the sums
that SQL forms, exports and prices follow from the table; CONTRIBUTING.md has the recipe of a new
kind ("a price unit"), and tests/billing/test_kinds.py names each place that was forgotten.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import StrEnum
from operator import attrgetter
from typing import Self


class Kind(StrEnum):
    """A kind of tokens, or of what is counted as they are: begun seconds of recordings, characters
    that were spoken. Its value is its name in prices and in the pools file.

    Attributes:
        column: its column wherever usage is stored, and its field in the usage event.
        label: as people read it.
        part_of: the kind in whose count its tokens are reported too, listed before it, and whose
            price it has where it has none of its own. None: a whole.
        parts: the kinds that are part of it.
    """

    column: str
    label: str
    part_of: "Kind | None"
    parts: "tuple[Kind, ...]"

    # `Kind("input")` finds a member and never comes here; its type checker's view needs defaults.
    def __new__(cls, name: str, column: str = "", label: str = "", part_of: str = "") -> Self:
        kind = str.__new__(cls, name)
        kind._value_ = name
        kind.column, kind.label, kind.parts = column, label, ()
        kind.part_of = next((whole for whole in cls if whole.value == part_of), None)
        if kind.part_of is not None:
            kind.part_of.parts += (kind,)
        return kind

    INPUT = "input", "input_tokens", "Input"
    CACHED_INPUT = "cached_input", "cached_input_tokens", "Cached input", "input"
    OUTPUT = "output", "output_tokens", "Output"
    REASONING = "reasoning", "reasoning_tokens", "Reasoning", "output"
    AUDIO = "audio", "audio_seconds", "Seconds of audio"
    CHARACTERS = "characters", "spoken_characters", "Characters spoken"
    IMAGE = "image", "image_tokens", "Images", "input"  # no cache had them
    CACHED_OUTPUT = "cached_output", "cached_output_tokens", "Cached output", "output"


WHOLES = tuple(kind for kind in Kind if kind.part_of is None)
TOKEN_COLUMNS = tuple(kind.column for kind in Kind)
KINDS = tuple(Kind)
_COUNTS = attrgetter(*TOKEN_COLUMNS)
_NUMBERS = attrgetter(*(kind.value for kind in Kind))
_PARTS = tuple((kind.value, tuple(part.value for part in kind.parts)) for kind in Kind)


@dataclass(frozen=True, slots=True)
class _PerKind:
    """A number of tokens for each kind; the fields are the kinds' names, in their order."""

    input: int = 0
    cached_input: int = 0
    output: int = 0
    reasoning: int = 0
    audio: int = 0
    characters: int = 0
    image: int = 0
    cached_output: int = 0

    def items(self) -> Iterator[tuple[Kind, int]]:
        return zip(KINDS, _NUMBERS(self), strict=True)

    def __add__(self, other: Self) -> Self:
        return type(self)(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def __sub__(self, other: Self) -> Self:
        return type(self)(*(getattr(self, f.name) - getattr(other, f.name) for f in fields(self)))

    def __bool__(self) -> bool:
        return any(number for _, number in self.items())


@dataclass(frozen=True, slots=True)
class Quantities(_PerKind):
    """Tokens as they are priced: no token is in two of them, so `input` was computed."""


@dataclass(frozen=True, slots=True)
class TokenCounts(_PerKind):
    """Tokens as reported: a part's tokens are in its whole's count as well.

    Invariant of what is stored, also held by constraints in the database: none is negative, and
    the parts of a whole together are no more than the whole.
    """

    @classmethod
    def of(cls, row: object) -> Self:
        """The counts of anything that has the columns as attributes."""
        return cls(*_COUNTS(row))

    def columns(self) -> dict[str, int]:
        return {kind.column: number for kind, number in self.items()}

    def clamped(self) -> Self:
        """The counts with the invariant enforced, for numbers that an upstream made up.

        A part larger than its whole is cut to it: a bad report must not stop a generation
        from ending, and the customer is never charged for more than the whole.
        """
        clamped: dict[str, int] = {}
        for whole in WHOLES:
            left = clamped[whole] = max(getattr(self, whole), 0)
            for part in whole.parts:
                clamped[part] = min(max(getattr(self, part), 0), left)
                left -= clamped[part]
        return type(self)(**clamped)

    def billable(self) -> Quantities:
        return Quantities(
            *(
                getattr(self, name) - sum([getattr(self, part) for part in parts])
                for name, parts in _PARTS
            )
        )
