"""`@pytest.mark.nightly(beside="tests/…::test_…")`: a test that `make test` leaves out.

`beside` names the test that keeps the same promise in every run: without an id in brackets, if any
of its parameters does. `make test-all` runs both, and so does `pytest PATH`. See
docs/decisions/0428.
"""

import ast
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

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


def is_left_out(config: pytest.Config) -> bool:
    """Whether this run leaves the nightly tests out."""
    return "not nightly" in config.getoption("markexpr", default="")


def try_fewer_examples() -> None:
    """Of random inputs a run tries thirty where a test does not say how many, for hypothesis' usual
    hundred: each run has others. Before the tests are imported."""
    from hypothesis import settings  # not for who needs the rest of this module

    settings.register_profile("every run", settings.default, max_examples=30)
    settings.load_profile("every run")


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


def crossed(
    names: Sequence[str],
    *axes: Sequence[Any],
    beside: str,
    where: Callable[..., bool] = lambda *values: True,
) -> pytest.MarkDecorator:
    """`parametrize` by the product of `axes`, as far as `where` takes it: in every run as few rows
    as have each value of each axis, the others at night.

    Args:
        names: the parameters' names, one for each axis.
        beside: the test itself.
    """
    rows = [row for row in product(*axes) if where(*row)]
    numbered = [set(enumerate(row)) for row in _numbered(axes, rows)]
    missing = set().union(*numbered)
    chosen: set[int] = set()
    while missing:
        best = max(range(len(rows)), key=lambda row: len(missing & numbered[row]))
        chosen.add(best)
        missing -= numbered[best]
    night = pytest.mark.nightly(beside=beside)
    params = [
        pytest.param(*row, marks=() if index in chosen else night) for index, row in enumerate(rows)
    ]
    return pytest.mark.parametrize(names, params)


def _numbered(axes: Sequence[Sequence[Any]], rows: Sequence[tuple[Any, ...]]) -> list[list[int]]:
    """Each row by the places of its values, which need not be hashable."""
    return [[axis.index(value) for axis, value in zip(axes, row, strict=True)] for row in rows]
