"""`make test` runs every stage, and is red when any of them was."""

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from infra import checks, chromium
from infra.launcher.errors import LaunchError


def run(stages: Sequence[checks.Stage]) -> int:
    with checks.Threads(2) as threads:
        begun = threads.begin(stages, dict(os.environ))
    return checks.summary([stage.result() for stage in begun])


def test_all_stages_run_and_one_failure_fails_the_checks(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    stages = [
        checks.Stage("first", ("sh", "-c", "echo a reason >&2; exit 3"), tmp_path),
        checks.Stage("second", ("sh", "-c", "touch ran"), tmp_path),
    ]
    assert run(stages) == 1
    assert (tmp_path / "ran").exists()
    shown = capfd.readouterr().out
    assert "first │ a reason\n" in shown
    assert re.search(r"✗ +[0-9.]+ s  first\n", shown)
    assert re.search(r"✓ +[0-9.]+ s  second\n", shown)


def test_last_output_of_a_failed_stage_is_printed_last(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    failing = "for n in $(seq 20); do echo line $n; done; echo FAILED test_it; exit 1"
    run(
        [
            checks.Stage("red", ("sh", "-c", failing), tmp_path),
            checks.Stage("green", ("sh", "-c", "echo passed"), tmp_path),
        ]
    )
    *_, before, last = capfd.readouterr().out.splitlines()
    assert before.endswith("red │ line 20")
    assert last.endswith("red │ FAILED test_it")


def test_test_that_needed_a_second_try_is_named_at_the_end_though_all_passed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run([checks.Stage("green", ("sh", "-c", "echo RERUN test_it; seq 20"), tmp_path)]) == 0
    assert capfd.readouterr().out.splitlines()[-1].endswith("green │ RERUN test_it")


def test_name_of_a_failure_is_repeated_at_the_end(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    failing = "echo FAILED test_it; for n in $(seq 20); do echo late $n; done; exit 1"
    run([checks.Stage("red", ("sh", "-c", failing), tmp_path)])
    shown = capfd.readouterr().out
    _, after_table = shown.split(" s  red\n", 2)[1:]
    assert "red │ FAILED test_it\n" in after_table


def test_checks_pass_when_every_stage_passes(tmp_path: Path) -> None:
    assert run([checks.Stage("only", ("true",), tmp_path)]) == 0


def test_missing_browser_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.delenv("PARLEY_CHROMIUM", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(LaunchError, match="need Chromium"):
        chromium.ensure_chromium()


def test_types_of_the_page_are_checked_once() -> None:
    """By its build in a run of everything, by a stage of its own where nothing is built."""
    package = json.loads((checks.ROOT / "frontend" / "package.json").read_text())
    assert package["scripts"]["build"].startswith("npm run --silent typecheck && ")
    assert package["scripts"]["typecheck"].endswith("tsc -b")
    everything, lint = (
        [stage.title for stage in checks.page_stages(("npm",), only)] for only in (None, "lint")
    )
    assert "tsc" not in everything
    assert "tsc" in lint
    assert "biome" in everything


def test_every_test_is_in_one_run() -> None:
    """Some files are in several, which choose by marks: the official clients' are all `live`, the
    browser's `live` or `scripted` (their conftest.py), and those of the API either or neither."""
    runs = [checks.pytest_stage(name).command for name in checks._TESTS]
    neither = "not live and not scripted"
    for file in (checks.ROOT / "tests").rglob("test_*.py"):
        path = file.relative_to(checks.ROOT)
        marks = [mark_of(command) for command in runs if takes(command, path)]
        if path.is_relative_to("tests/e2e"):
            assert marks == ["scripted", "live"], path
        elif path.is_relative_to("tests/contract"):
            assert marks == ["live"], path
        else:
            assert marks in ([""], ["scripted", "live", neither]), path


def takes(command: Sequence[str], path: Path) -> bool:
    """Whether a run of pytest finds `path`."""
    families = [str(path), *map(str, path.parents)]
    named = [word for word in command if word.startswith("tests/")]
    ignored = [word.removeprefix("--ignore=") for word in command]
    return (not named or any(word in families for word in named)) and not any(
        word in families for word in ignored if word not in named
    )


def mark_of(command: Sequence[str]) -> str:
    return command[command.index("-m") + 1] if "-m" in command else ""
