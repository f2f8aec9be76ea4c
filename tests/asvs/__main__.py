"""Break each mechanism in a copy of the tree, and see its test fail: `make asvs`, a night's work.

ARGS="6. 9.1" takes the lines that begin so. Each test is run as it stands first: one that fails
already proves nothing. The exit code is 1 where a mutation survived.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from enum import StrEnum
from functools import cache
from pathlib import Path

from tests.asvs.mutation import ROOT, Mutation
from tests.asvs.mutations import MUTATIONS
from tests.asvs.table import in_order, lines_with_tests

# What is not in the repository and what the tests need of it.
_LINKED = (".venv", "frontend/node_modules", "backend/static/app", "var")
_LIMIT_S = 900
_FAILED = 1
"""pytest's and vitest's exit code where tests failed, and nothing else went wrong."""


class Outcome(StrEnum):
    CAUGHT = "caught"
    SURVIVED = "SURVIVED"
    RED_BEFORE = "RED BEFORE"
    BROKEN = "BROKEN"


class Tree:
    """A copy of the files that git knows, beside which what is built is linked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        listed = subprocess.check_output(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"], cwd=ROOT
        )
        for name in listed.decode().rstrip("\0").split("\0"):
            source, target = ROOT / name, folder / name
            if source.is_file() and not source.is_symlink():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
        # Tests ask git which files there are.
        subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
        for name in _LINKED:
            if (ROOT / name).exists() and not (folder / name).exists():
                (folder / name).symlink_to((ROOT / name).resolve())

    def run(self, test: str) -> int:
        """The exit code of the runner of `test`."""
        if test.startswith("frontend/"):
            command = ["npx", "vitest", "run", test.removeprefix("frontend/")]
            return self._code(command, self.folder / "frontend")
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", test]
        return self._code(command, self.folder)

    def _code(self, command: list[str], cwd: Path) -> int:
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
        try:
            return subprocess.run(
                command,
                cwd=cwd,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_LIMIT_S,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            return _FAILED  # what hangs without the mechanism does not pass

    def outcome_of(self, mutation: Mutation, *, is_green: bool) -> Outcome:
        if not is_green:
            return Outcome.RED_BEFORE
        file = self.folder / mutation.file
        original = file.read_text()
        file.write_text(mutation.applied_to(original))
        try:
            code = self.run(mutation.test)
        finally:
            file.write_text(original)
        if code == 0:
            return Outcome.SURVIVED
        return Outcome.CAUGHT if code == _FAILED else Outcome.BROKEN


def chosen(prefixes: Iterable[str]) -> list[Mutation]:
    """Return those of which a line begins with one of `prefixes`; all without any."""
    wanted = tuple(prefixes)
    return [
        mutation
        for mutation in MUTATIONS
        if not wanted or any(line.startswith(wanted) for line in mutation.lines)
    ]


def report_coverage(caught: set[str]) -> None:
    lines = lines_with_tests()
    left = sorted(lines.keys() - caught, key=in_order)
    print(f"{len(lines) - len(left)} of the {len(lines)} lines that name tests are proven.")
    print(f"Not proven: {', '.join(left)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("prefixes", nargs="*", help='lines, as "6." or "9.1.1"')
    mutations = chosen(parser.parse_args().prefixes)
    outcomes: dict[Mutation, Outcome] = {}
    with tempfile.TemporaryDirectory(prefix="parley-asvs-") as folder:
        tree = Tree(Path(folder))
        is_green = cache(lambda test: tree.run(test) == 0)
        for mutation in mutations:
            started = time.monotonic()
            outcome = tree.outcome_of(mutation, is_green=is_green(mutation.test))
            outcomes[mutation] = outcome
            print(f"{outcome:10} {time.monotonic() - started:6.1f} s  {mutation}", flush=True)
    bad = [mutation for mutation, outcome in outcomes.items() if outcome is not Outcome.CAUGHT]
    failed = {line for mutation in bad for line in mutation.lines}
    print(f"\n{len(outcomes) - len(bad)} of {len(outcomes)} mutations were caught.")
    report_coverage({line for mutation in outcomes for line in mutation.lines} - failed)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
