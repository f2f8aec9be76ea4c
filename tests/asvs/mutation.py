"""One break of a mechanism that docs/security.md says is held by a test."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Mutation:
    """With `old` replaced by `new`, the mechanism is gone and `test` has to fail.

    Attributes:
        lines: of the table, as "6.2.1"; each names the file of `test`.
        file: from the root of the repository; `old` stands in it exactly once.
        test: what pytest is given, or a test file of the page for vitest.
    """

    lines: tuple[str, ...]
    file: str
    old: str
    new: str
    test: str

    @property
    def test_file(self) -> str:
        return self.test.partition("::")[0]

    def applied_to(self, text: str) -> str:
        """Raises ValueError: `old` does not stand there exactly once."""
        if text.count(self.old) != 1:
            raise ValueError(f"{self.file} has {text.count(self.old)} times: {self.old!r}")
        return text.replace(self.old, self.new)

    def __str__(self) -> str:
        return f"{', '.join(self.lines)}: {self.file} → {self.test}"
