"""A test that fails once is tried again, by name; one that fails twice, or too many, fail a run."""

import subprocess
import sys
from pathlib import Path

from infra.launcher.procfile import ROOT
from tests.support.second_try import LIMIT

_FAILS_AT_FIRST = """
import pathlib, pytest

@pytest.mark.parametrize("number", range({count}))
def test_it(number, tmp_path_factory):
    seen = pathlib.Path(__file__).with_name(f"seen-{{number}}")
    if {always} or not seen.exists():
        seen.touch()
        pytest.fail("a reason to be read")
"""


def run(directory: Path, *, count: int, always: bool = False) -> tuple[int, str]:
    """The exit code and the output of a run of `count` tests that fail at first, or always."""
    (directory / "test_it.py").write_text(_FAILS_AT_FIRST.format(count=count, always=always))
    plugins = ("pytest_rerunfailures", "tests.support.second_try")
    options = [option for plugin in plugins for option in ("-p", plugin)]
    command = [sys.executable, "-m", "pytest", "--disable-plugin-autoload", *options]
    done = subprocess.run(
        [*command, "-ra", "--reruns", "1", f"--rootdir={directory}", str(directory)],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_test_that_fails_once_passes_and_is_named_with_its_reason(tmp_path: Path) -> None:
    code, output = run(tmp_path, count=1)

    assert code == 0, output
    assert "a reason to be read" in output
    assert "\nRERUN " in output


def test_test_that_fails_twice_fails_the_run(tmp_path: Path) -> None:
    code, output = run(tmp_path, count=1, always=True)

    assert code == 1
    assert "\nFAILED " in output


def test_run_with_too_many_second_tries_is_red(tmp_path: Path) -> None:
    code, output = run(tmp_path, count=LIMIT + 1)

    assert code == 1, output
    assert f"FAILED {LIMIT + 1} tests needed a second try" in output
