"""No test is left to the night unless another keeps its promise in every run."""

import subprocess
import sys
from pathlib import Path

import pytest

from infra.launcher.procfile import ROOT

_CONFTEST = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
import pytest
from tests.support import nightly

def pytest_collection_modifyitems(config, items):
    if nightly.is_whole(config) and (wrong := nightly.unkept(items, config.rootpath)):
        raise pytest.UsageError(*wrong)
"""
_OTHER = """
import pytest

def test_every_run():
    pass

@pytest.mark.nightly(beside="test_other.py::test_every_run")
def test_long():
    pass
"""


def pytest_in(directory: Path, tests: str, *options: str) -> subprocess.CompletedProcess[str]:
    """A run of pytest over `tests`; beside them, in a file that it does not collect, _OTHER."""
    (directory / "conftest.py").write_text(_CONFTEST)
    (directory / "test_other.py").write_text(_OTHER)
    (directory / "test_it.py").write_text(tests)
    command = (sys.executable, "-m", "pytest", "-q", "--disable-plugin-autoload", "--color=no")
    ini = ("-o", "markers=nightly: left out", f"--rootdir={directory}", "-p", "no:cacheprovider")
    return subprocess.run(
        [*command, *ini, *(options or ["test_it.py"])],
        cwd=directory, capture_output=True, text=True, check=False,
    )  # fmt: skip


_KEPT = """
import pytest

SAME = pytest.mark.nightly(beside="test_it.py::test_sizes")

@pytest.mark.parametrize("size", [1, pytest.param(100, marks=SAME)])
def test_sizes(size):
    pass

@pytest.mark.nightly(beside="test_it.py::test_sizes[1]")
def test_more():
    pass

@pytest.mark.nightly(beside="test_other.py::test_every_run")
def test_beside_another_file():
    pass
"""


@pytest.mark.parametrize(
    ("options", "passed"),
    [
        (("test_it.py",), 4),
        (("test_it.py", "-m", "not nightly"), 1),
        (("test_it.py::test_more",), 1),
    ],
)
def test_nightly_tests_run_by_hand_and_are_left_out_by_their_mark(
    tmp_path: Path, options: tuple[str, ...], passed: int
) -> None:
    run = pytest_in(tmp_path, _KEPT, *options)
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"{passed} passed" in run.stdout


_UNKEPT = """
import pytest

@pytest.mark.nightly
def test_without_any():
    pass

@pytest.mark.nightly(beside="test_it.py::test_gone")
def test_beside_none():
    pass

@pytest.mark.nightly(beside="test_it.py::test_beside_none")
def test_beside_a_nightly_one():
    pass

@pytest.mark.nightly(beside="test_other.py::test_long")
def test_beside_a_nightly_one_of_another_file():
    pass

@pytest.mark.nightly(beside="test_nowhere.py::test_gone")
def test_beside_no_file():
    pass

ITSELF = pytest.mark.nightly(beside="test_it.py::test_sizes[2]")

@pytest.mark.parametrize("size", [1, pytest.param(2, marks=ITSELF)])
def test_sizes(size):
    pass
"""


def test_no_run_begins_while_a_promise_is_kept_at_night_only(tmp_path: Path) -> None:
    run = pytest_in(tmp_path, _UNKEPT, "test_it.py", "-m", "not nightly")

    assert run.returncode == pytest.ExitCode.USAGE_ERROR
    named = {
        line.partition(":: ")[0].partition("::")[2].partition(":")[0]
        for line in run.stderr.splitlines()
    }
    assert named >= {
        "test_without_any",
        "test_beside_none",
        "test_beside_a_nightly_one",
        "test_beside_a_nightly_one_of_another_file",
        "test_beside_no_file",
        "test_sizes[2]",
    }


_CROSSED = """
from tests.support.nightly import crossed

@crossed(
    ("size", "kind", "fits"),
    [1, 2, 3],
    ["a", "b"],
    [{}, []],
    where=lambda size, kind, fits: (size, kind) != (3, "a"),
    beside="test_it.py::test_it",
)
def test_it(size, kind, fits):
    print("row", size, kind, fits)
"""


def test_every_value_of_a_crossed_test_is_in_every_run(tmp_path: Path) -> None:
    rows = {}
    for chosen in ("not nightly", "nightly"):
        run = pytest_in(tmp_path, _CROSSED, "test_it.py", "-m", chosen, "-s")
        assert run.returncode == 0, run.stdout + run.stderr
        lines = run.stdout.splitlines()
        rows[chosen] = [line.split()[-3:] for line in lines if "row" in line]
    assert len(rows["not nightly"]) == 3
    assert len(rows["nightly"]) == 7
    assert [set(values) for values in zip(*rows["not nightly"], strict=True)] == [
        {"1", "2", "3"},
        {"a", "b"},
        {"{}", "[]"},
    ]
