"""`make test`: every check in one go, with the time of each.

All stages run even when one fails, so that one run shows all there is to fix; the exit code is
1 when any failed. `--only lint` runs the linters and type checkers, `--only format` lays out
the page's code.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from infra.launcher import frontend
from infra.launcher.errors import LaunchError
from infra.launcher.procfile import ROOT, with_our_python

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FRONTEND = ROOT / "frontend"


@dataclass(frozen=True, slots=True)
class Stage:
    """One check: a title, a command, where it runs."""

    title: str
    command: Sequence[str]
    directory: Path = ROOT


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
        Stage("pytest, browser tests included", ("pytest", "--durations=15")),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m infra.checks", description=__doc__)
    parser.add_argument("--only", choices=["lint", "format"])
    only = parser.parse_args().only
    try:
        node = frontend.find_node()
        frontend.ensure_packages(node)
        if only is None:
            ensure_chromium()
            if not frontend.build_is_current():
                frontend.build(node)
    except LaunchError as error:
        print(error)
        return 1
    if only == "format":
        stages = [Stage("biome", (*node.npm, "run", "--silent", "format"), _FRONTEND)]
    else:
        stages = [*python_lint_stages(), *page_lint_stages(node.npm)]
        if only is None:
            stages += test_stages(node.npm)
    environment = with_our_python(node.environment(), Path(sys.executable))
    return run(stages, environment)


def run(stages: Sequence[Stage], environment: dict[str, str]) -> int:
    """Run `stages` one after another and print a table of their times."""
    lines = []
    failed = False
    for stage in stages:
        print(f"\n━━ {stage.title}", flush=True)
        started = time.monotonic()
        code = subprocess.run(
            stage.command, cwd=stage.directory, env=environment, check=False
        ).returncode
        failed |= code != 0
        mark = "✓" if code == 0 else "✗"
        lines.append(f"  {mark} {time.monotonic() - started:7.1f} s  {stage.title}")
    print("\n" + "\n".join(lines), flush=True)
    return 1 if failed else 0


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
