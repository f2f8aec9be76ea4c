"""`make test`: every check in one go, with the time of each.

Two stages run side by side, since most tests wait more than they compute. All run even when one
fails, so that one run shows all there is to fix; the last words of those that failed are repeated
at the end, and the exit code is 1 when any failed. `--only lint` runs the linters and type
checkers, `--only format` lays out the page's code.
"""

import argparse
import os
import shutil
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from infra.launcher import frontend
from infra.launcher.errors import LaunchError
from infra.launcher.procfile import ROOT, with_our_python

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FRONTEND = ROOT / "frontend"
_LANES = 2
# Runs of like length, longest first, so that neither lane is idle at the end.
_TESTS = {
    "browser": ("tests/e2e", "tests/contract"),
    "faults": ("tests/chaos", "tests/infra"),
    "api": ("tests/api", "tests/accounts", "tests/admin"),
    "engine": ("tests/inference", "tests/safety"),
}
_PYTEST = ("pytest", "--durations=15")
# A service that runs checks shows the end of a long log, and what a dying thread still has to say
# comes after pytest's summary: the lines that name a failure are kept beside the last ones.
_LAST_LINES = 6
_NAMES_A_FAILURE = ("FAILED ", "ERROR ")
_terminal = threading.Lock()


@dataclass(frozen=True, slots=True)
class Stage:
    """One check: a title, a command, where it runs."""

    title: str
    command: Sequence[str]
    directory: Path = ROOT


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a stage ended, after how many seconds; what named a failure, and its last lines."""

    stage: Stage
    passed: bool
    seconds: float
    last_words: tuple[str, ...]

    def __str__(self) -> str:
        return f"  {'✓' if self.passed else '✗'} {self.seconds:7.1f} s  {self.stage.title}"


def python_lint_stages() -> list[Stage]:
    return [
        Stage("ruff check", ("ruff", "check", ".")),
        Stage("ruff format", ("ruff", "format", "--check", "--quiet", ".")),
        Stage("import-linter", ("lint-imports",)),
        Stage("mypy", ("mypy", ".")),
    ]


def page_lint_stages(npm: Sequence[str]) -> list[Stage]:
    return [
        Stage("biome", (*npm, "run", "--silent", "lint"), _FRONTEND),
        Stage("tsc", (*npm, "run", "--silent", "typecheck"), _FRONTEND),
    ]


def test_stages(npm: Sequence[str]) -> list[Stage]:
    return [
        Stage(
            "migrations are complete",
            ("python", "manage.py", "with-services", "makemigrations", "--check", "--dry-run"),
        ),
        Stage("vitest", (*npm, "run", "--silent", "test"), _FRONTEND),
        *(Stage(f"pytest {name}", (*_PYTEST, *paths)) for name, paths in _TESTS.items()),
        Stage("pytest apps", (*_PYTEST, *(f"--ignore={path}" for path in chain(*_TESTS.values())))),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m infra.checks", description=__doc__)
    parser.add_argument("--only", choices=["lint", "format"])
    only = parser.parse_args().only
    try:
        node = frontend.find_node()
        environment = with_our_python(node.environment(), Path(sys.executable))
        with ThreadPoolExecutor(_LANES) as lanes:
            # These need nothing of the page, whose packages and building take half a minute.
            under_way = [] if only == "format" else begin(lanes, python_lint_stages(), environment)
            frontend.ensure_packages(node)
            if only is None:
                ensure_chromium()
                if not frontend.build_is_current():
                    frontend.build(node)
            stages = page_stages(node.npm, only)
            outcomes = [stage.result() for stage in under_way + begin(lanes, stages, environment)]
    except LaunchError as error:
        print(error)
        return 1
    return summary(outcomes)


def page_stages(npm: Sequence[str], only: str | None) -> list[Stage]:
    """The stages that need the page's packages; all tests are among them."""
    if only == "format":
        return [Stage("biome", (*npm, "run", "--silent", "format"), _FRONTEND)]
    return page_lint_stages(npm) + (test_stages(npm) if only is None else [])


def begin(
    lanes: ThreadPoolExecutor, stages: Sequence[Stage], environment: dict[str, str]
) -> list[Future[Outcome]]:
    """Have `stages` run in their order, each when a lane is free."""
    return [lanes.submit(run_stage, stage, environment) for stage in stages]


def summary(outcomes: Sequence[Outcome]) -> int:
    """Print a table of all stages' times, and what those that failed said last; the exit code."""
    failed = [outcome for outcome in outcomes if not outcome.passed]
    last_words = [_line(outcome.stage, line) for outcome in failed for line in outcome.last_words]
    print("", *outcomes, *last_words, sep="\n", flush=True)
    return 1 if failed else 0


def run_stage(stage: Stage, environment: dict[str, str]) -> Outcome:
    """Run one stage; each line of what it prints begins with its title."""
    started = time.monotonic()
    last_words: deque[str] = deque(maxlen=_LAST_LINES)
    named: deque[str] = deque(maxlen=_LAST_LINES)
    with subprocess.Popen(
        stage.command,
        cwd=stage.directory,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            last_words.append(line.rstrip())
            if line.startswith(_NAMES_A_FAILURE):
                named.append(last_words[-1])
            _say(_line(stage, last_words[-1]))
    earlier = [line for line in named if line not in last_words]
    seconds = time.monotonic() - started
    outcome = Outcome(stage, process.returncode == 0, seconds, (*earlier, *last_words))
    _say(str(outcome))
    return outcome


def _line(stage: Stage, text: str) -> str:
    return f"{stage.title:>15} │ {text}"


def _say(line: str) -> None:
    with _terminal:
        print(line, flush=True)


def ensure_chromium() -> None:
    """A Chromium for the browser tests: the system's, or on Debian as root a new one.

    Raises:
        LaunchError: there is none and it cannot be installed here.
    """
    if os.environ.get("PARLEY_CHROMIUM") or _which_chromium():
        return
    if os.geteuid() == 0 and Path("/etc/debian_version").exists():
        print("  → install Chromium with apt-get", flush=True)
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (
            ["apt-get", "update", "-qq"],
            ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"],
        ):
            subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False)
    if not _which_chromium():
        raise LaunchError(
            "The browser tests need Chromium: install it (on Debian: apt-get install chromium), "
            "or name its program in PARLEY_CHROMIUM."
        )


def _which_chromium() -> str | None:
    return next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


if __name__ == "__main__":
    sys.exit(main())
