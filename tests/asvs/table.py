"""The lines of docs/security.md that say which tests hold them."""

import re

from tests.asvs.mutation import ROOT

_LINE = re.compile(r"^\| (\d+\.\d+\.\d+) \| [^|]* \| (.*) \|$", re.MULTILINE)
_TEST = re.compile(r"`((?:tests|frontend)/[\w/.-]+\.(?:py|tsx?))`")


def lines_with_tests() -> dict[str, list[str]]:
    """The test files that each line names, by its number."""
    document = (ROOT / "docs" / "security.md").read_text()
    found = {line: _TEST.findall(held_by) for line, held_by in _LINE.findall(document)}
    return {line: tests for line, tests in found.items() if tests}


def in_order(line: str) -> tuple[int, ...]:
    """Sorts "10.1.1" after "9.2.1"."""
    return tuple(int(number) for number in line.split("."))
