"""`@pytest.mark.nightly(beside="tests/…::test_…")`: a test that `make test` leaves out.

`beside` names the test that keeps the same promise in every run: without an id in brackets, if any
of its parameters does. `make test-all` runs both, and so does `pytest PATH`. See
docs/decisions/0428.
"""

import ast
from collections.abc import Sequence
from pathlib import Path

import pytest


def unkept(items: Sequence[pytest.Item], root: Path) -> list[str]:
    """What is wrong with the nightly tests among `items`, which are whole files.

    The test beside a nightly one is looked up among `items`; where its file is in another run of
    pytest, it is looked for in the text of the file.
    """
    every_run = {item.nodeid for item in items if not _is_nightly(item)}
    kept = every_run | {name.partition("[")[0] for name in every_run}
    files = {_file(item.nodeid) for item in items}
    wrong = []
    for item in items:
        for mark in item.iter_markers("nightly"):
            beside = mark.kwargs.get("beside")
            if mark.args or list(mark.kwargs) != ["beside"] or not isinstance(beside, str):
                wrong.append(f"{item.nodeid}: nightly(beside=…) names no test of every run")
            elif beside not in kept and (
                _file(beside) in files or not _is_written(beside, root / _file(beside))
            ):
                wrong.append(f"{item.nodeid}: no test of every run is {beside}")
    return wrong


def is_whole(config: pytest.Config) -> bool:
    """Whether this run of pytest collects whole files."""
    return not config.getoption("lf", default=False) and not any(
        "::" in word for word in config.args
    )


def _is_nightly(item: pytest.Item) -> bool:
    return item.get_closest_marker("nightly") is not None


def _file(name: str) -> str:
    return name.partition("::")[0]


def _is_written(name: str, file: Path) -> bool:
    """Whether `file` has this test, and no word of `nightly` before it."""
    if not file.is_file():
        return False
    function = name.partition("[")[0].rpartition("::")[2]
    return any(
        node.name == function and "nightly" not in "".join(map(ast.unparse, node.decorator_list))
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
