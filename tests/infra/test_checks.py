"""`make test` runs every stage, and is red when any of them was."""

import json
import os
import re
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from infra import checks, chromium
from infra.launcher.errors import LaunchError
from infra.stages import MAX_SECOND_TRIES, Stage, Threads, run_stage, summary, with_second_try


def run(stages: Sequence[checks.Stage]) -> int:
    with Threads(2) as threads:
        begun = threads.begin(stages, dict(os.environ))
    return summary([stage.result() for stage in begun])


def test_all_stages_run_and_one_failure_fails_the_checks(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    stages = [
        Stage("first", ("sh", "-c", "echo a reason >&2; exit 3"), tmp_path),
        Stage("second", ("sh", "-c", "touch ran"), tmp_path),
    ]
    assert run(stages) == 1
    assert (tmp_path / "ran").exists()
    shown = capfd.readouterr().out
    assert "first │ a reason\n" in shown
    assert re.search(r"✗ +[0-9.]+ s +[0-9.]+ s of a processor  first\n", shown)
    assert re.search(r"✓ +[0-9.]+ s +[0-9.]+ s of a processor  second\n", shown)


def test_processor_time_of_a_stage_is_that_of_all_its_processes(tmp_path: Path) -> None:
    computes = "import time\nwhile time.process_time() < 0.5: pass"
    child = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {computes!r}])"
    waits = run_stage(Stage("waits", ("sleep", "0.5"), tmp_path), dict(os.environ))
    parent = run_stage(Stage("computes", (sys.executable, "-c", child), tmp_path), {})
    assert waits.processor_s < 0.5 <= parent.processor_s


def test_stage_that_goes_first_is_a_session_of_its_own_and_ends_with_the_run(
    tmp_path: Path,
) -> None:
    """Ctrl-C of the terminal does not reach it."""
    # What a run in the background starts inherits that SIGINT is ignored.
    says = """
import os, pathlib, signal, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
pathlib.Path("pid").write_text(f"{os.getpid()}")
time.sleep(60)
"""
    stage = Stage("first", (sys.executable, "-c", says), tmp_path, goes_first=True)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), Threads(1) as threads:
        (result,) = threads.begin([stage], dict(os.environ))
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
            assert time.monotonic() < began + 30
            time.sleep(0.01)
        pid = int((tmp_path / "pid").read_text())
        assert os.getsid(pid) == pid
        raise KeyboardInterrupt
    assert result.result().exit_code == -signal.SIGINT
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_last_output_of_a_failed_stage_is_printed_last(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    failing = "for n in $(seq 20); do echo line $n; done; echo FAILED test_it; exit 1"
    run(
        [
            Stage("red", ("sh", "-c", failing), tmp_path),
            Stage("green", ("sh", "-c", "echo passed"), tmp_path),
        ]
    )
    *_, before, last = capfd.readouterr().out.splitlines()
    assert before.endswith("red │ line 20")
    assert last.endswith("red │ FAILED test_it")


_FAILS_AT_FIRST = """
import pathlib, pytest

@pytest.mark.parametrize("number", range({count}))
def test_it(number):
    seen = pathlib.Path(__file__).with_name(f"seen-{{number}}")
    if {always} or not seen.exists():
        seen.touch()
        pytest.fail("a reason to be read")

def test_other():
    with pathlib.Path(__file__).with_name("others").open("a") as others:
        others.write("ran once")
"""


def pytest_stage(directory: Path, *, count: int, always: bool = False) -> Stage:
    """A stage of pytest's in which `count` tests fail, at first or always, and one passes."""
    (directory / "test_it.py").write_text(_FAILS_AT_FIRST.format(count=count, always=always))
    cache = directory / "cache"
    command = (sys.executable, "-m", "pytest", "-ra", "--disable-plugin-autoload")
    options = ("-o", f"cache_dir={cache}", f"--rootdir={directory}", str(directory))
    return Stage("tests", (*command, *options), directory, cache=cache)


def test_failed_test_is_run_once_more_alone_and_named_at_the_end(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    result = with_second_try(run_stage(pytest_stage(tmp_path, count=2), {}), {})

    assert summary([result]) == 0
    shown = capfd.readouterr().out
    assert "a reason to be read" in shown
    first, second = shown.splitlines()[-2:]
    assert first.endswith("tests │ SECOND TRY test_it.py::test_it[0]")
    assert second.endswith("tests │ SECOND TRY test_it.py::test_it[1]")
    assert (tmp_path / "others").read_text() == "ran once"


def test_test_that_fails_twice_fails_the_checks(tmp_path: Path) -> None:
    result = with_second_try(run_stage(pytest_stage(tmp_path, count=1, always=True), {}), {})

    assert summary([result]) == 1
    assert result.last_words[-2].startswith("FAILED test_it.py::test_it[0]")


def test_stage_in_which_too_many_failed_has_no_second_try(tmp_path: Path) -> None:
    stage = pytest_stage(tmp_path, count=MAX_SECOND_TRIES + 1)
    result = run_stage(stage, {})

    assert with_second_try(result, {}) is result
    assert summary([result]) == 1


def test_stage_that_did_not_end_by_itself_has_no_second_try(tmp_path: Path) -> None:
    stage = pytest_stage(tmp_path, count=1)
    dies = "import os\n\ndef test_it():\n    os._exit(1)\n"
    (tmp_path / "test_it.py").write_text(dies)
    result = run_stage(stage, {})

    assert with_second_try(result, {}) is result
    assert summary([result]) == 1


def test_name_of_a_failure_is_repeated_at_the_end(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    failing = "echo FAILED test_it; for n in $(seq 20); do echo late $n; done; exit 1"
    run([Stage("red", ("sh", "-c", failing), tmp_path)])
    shown = capfd.readouterr().out
    _, after_table = shown.split(" s of a processor  red\n", 2)[1:]
    assert "red │ FAILED test_it\n" in after_table


def test_checks_pass_when_every_stage_passes(tmp_path: Path) -> None:
    assert run([Stage("only", ("true",), tmp_path)]) == 0


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
        [stage.title for stage in checks.page_stages(("npm",), only, nightly=False)]
        for only in (None, "lint")
    )
    assert "tsc" not in everything
    assert "tsc" in lint
    assert "biome" in everything


@pytest.mark.parametrize("nightly", [False, True])
def test_delay_added_by_the_gateway_is_printed_by_night(*, nightly: bool) -> None:
    """By day it is measured beside three other runs, and says nothing."""
    titles = {stage.title for stage in checks.test_stages(("npm",), nightly=nightly)}
    assert ("gateway's delay" in titles) == nightly


@pytest.mark.parametrize("nightly", [False, True])
def test_every_test_is_in_one_run(*, nightly: bool) -> None:
    """Some files are in several, which choose by marks: the official clients' are all `live`, the
    browser's `live` or `scripted` (their conftest.py), and those of the API either or neither. What
    is `nightly` is in one when it is asked for, and in none otherwise."""
    runs = [checks.pytest_stage(name, nightly=nightly).command for name in checks._TESTS]
    every = [] if nightly else ["not nightly"]

    def marks_of(*products: str) -> list[str]:
        return [" and ".join([*([one] if one else []), *every]) for one in products]

    for file in (checks.ROOT / "tests").rglob("test_*.py"):
        path = file.relative_to(checks.ROOT)
        marks = [mark_of(command) for command in runs if takes(command, path)]
        if path.is_relative_to("tests/e2e"):
            assert marks == marks_of("scripted", "live"), path
        elif path.is_relative_to("tests/contract"):
            assert marks == marks_of("live"), path
        else:
            neither = "not live and not scripted"
            assert marks in (marks_of(""), marks_of("scripted", "live", neither)), path


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
