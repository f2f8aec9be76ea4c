"""`make test`: every check in one go, with the time of each.

Stages run side by side, two more than there are cores, since many tests wait more than they
compute; beside them those that do little but wait. All run even when one fails, so that one run
shows all there is to fix; then the few tests that failed are tried once more, alone. The last words
of the stages that failed are repeated at the end, and the exit code is 1 when any failed. `--only
lint` runs the linters and type checkers, `--only format` lays out the page's code. `--nightly` also
runs the tests that are marked so (docs/decisions/0428).
"""

import argparse
import os
import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import psutil

from infra.chromium import ensure_chromium
from infra.launcher import frontend, model
from infra.launcher.environment import var_directory
from infra.launcher.errors import LaunchError
from infra.launcher.procfile import ROOT, with_our_python
from infra.stages import Stage, Threads, summary, with_second_try

_FRONTEND = ROOT / "frontend"
# Each stage starts engines and products of its own, which take some gigabytes.
_STAGES_AT_ONCE = min(len(os.sched_getaffinity(0)) + 2, 6)
# Longest first, so that no thread is idle at the end; what needs the same product is in one run.
_REST = "rest"
# They begin while the page's packages come; and what they import is compiled once, not by all.
_WITHOUT_PAGE = (_REST, "engine", "infra")
# Of what they kill they wait for the return: a fifth of a core is enough for them.
_WAITING = ("infra", "faults")
# One process does most of what it does, one test after the other: as one of six that ask for two
# cores, it would go on alone for a minute after all others.
_GO_FIRST = (_REST,)
# Tests of the API and of the page are three runs: what asks the product with the real model, what
# asks the one whose upstream is scripted, and what asks neither. A product is started once, and
# stands no longer than it is asked.
_DOORS = (
    "tests/api",
    "tests/tenancy",
    "tests/accounts",
    "tests/admin",
    "tests/billing/test_client_address.py",
    "tests/billing/test_kinds.py",
    "tests/billing/test_reports.py",  # serves static files: not while the page is built
    "tests/generation/test_reconcile_usage.py",
    "tests/generation/test_thoughts.py",
    "tests/infra/test_running_product.py",
    "tests/safety/test_redteam_session.py",
)
_TESTS = {
    # They import torch.
    "engine": (
        "tests/inference",
        "tests/infra/test_fleet.py",
        "tests/infra/ray/test_engine_process.py",
        "tests/safety/test_align.py",
    ),
    # The browser's first: what others leave behind, as the fuzzing's rows, is not on its pages.
    "scripted": ("tests/e2e", *_DOORS),
    "live": ("tests/e2e", "tests/contract", *_DOORS),
    "api": _DOORS,
    "faults": ("tests/chaos",),
    _REST: (),  # what the others have not
    "infra": ("tests/infra",),
}
_MARKS = {"scripted": "scripted", "live": "live", "api": "not live and not scripted"}
_EVERY_RUN = "not nightly"
_PYTEST = ("pytest", "--durations=15")


def python_lint_stages() -> list[Stage]:
    return [
        Stage("ruff check", ("ruff", "check", ".")),
        Stage("ruff format", ("ruff", "format", "--check", "--quiet", ".")),
        Stage("import-linter", ("lint-imports",)),
        Stage("mypy", ("mypy", ".")),
    ]


def page_lint_stages(npm: Sequence[str], *, is_built: bool) -> list[Stage]:
    """A page that is built from its sources as they are has had its types checked: its build begins
    with tsc."""
    types = Stage("tsc", (*npm, "run", "--silent", "typecheck"), _FRONTEND)
    biome = Stage("biome", (*npm, "run", "--silent", "lint"), _FRONTEND)
    return [biome] if is_built else [biome, types]


def test_stages(npm: Sequence[str], *, nightly: bool) -> list[Stage]:
    stages = [
        *(pytest_stage(name, nightly=nightly) for name in _TESTS if name not in _WITHOUT_PAGE),
        Stage("vitest", (*npm, "run", "--silent", "test"), _FRONTEND),
    ]
    if nightly:
        # Asserts no time: its line is in the log, so that what the gateway adds cannot grow unseen.
        measured = ("--streams", "10", "--seconds", "2", "--runs", "1")
        measures = ("python", "-m", "tests.support.gateway_delay", *measured)
        stages.append(Stage("gateway's delay", measures))
    return stages


def pytest_stage(name: str, *, nightly: bool) -> Stage:
    """One of the runs in `_TESTS`: what it names, without what another names more closely, and
    without the nightly ones unless they are asked for."""
    own = _TESTS[name]
    others = (
        path
        for path in dict.fromkeys(chain(*_TESTS.values()))
        if path not in own
        if name == _REST or path.startswith(tuple(f"{one}/" for one in own))
    )
    ignored = (f"--ignore={path}" for path in others)
    marks = [_MARKS[name]] if name in _MARKS else []
    if not nightly:
        marks.append(_EVERY_RUN)
    chosen = ("-m", " and ".join(marks)) if marks else ()
    cache = ROOT / ".pytest_cache" / name
    command = (*_PYTEST, "-o", f"cache_dir={cache}", *own, *ignored, *chosen)
    return Stage(
        f"pytest {name}",
        command,
        waits=name in _WAITING,
        goes_first=name in _GO_FIRST,
        cache=cache,
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m infra.checks", description=__doc__)
    parser.add_argument("--only", choices=["lint", "format"])
    parser.add_argument("--nightly", action="store_true")
    arguments = parser.parse_args()
    only, nightly = arguments.only, arguments.nightly
    worked, idle = processor_s()
    try:
        node = frontend.find_node()
        environment = with_our_python(node.environment(), Path(sys.executable))
        if only is None:
            model.ensure(var_directory(os.environ) / "models")
        with Threads(_STAGES_AT_ONCE) as threads:
            under_way = threads.begin(early_stages(only, nightly=nightly), environment)
            frontend.ensure_packages(node)
            if only is None:
                ensure_chromium()
                if not frontend.build_is_current():
                    frontend.build(node)
            stages = page_stages(node.npm, only, nightly=nightly)
            under_way += threads.begin(stages, environment)
            outcomes = [stage.result() for stage in under_way]
        outcomes = [with_second_try(outcome, environment) for outcome in outcomes]
    except LaunchError as error:
        print(error)
        return 1
    # Where the cores are never idle, only less work is done sooner.
    worked_now, idle_now = processor_s()
    print(f"\n  processor: {worked_now - worked:.0f} s of work, {idle_now - idle:.0f} s idle")
    return summary(outcomes)


def processor_s() -> tuple[float, float]:
    """What all cores together have worked and have been idle since the machine began."""
    times = psutil.cpu_times()
    return times.user + times.nice + times.system, times.idle


def early_stages(only: str | None, *, nightly: bool) -> list[Stage]:
    """Those that need nothing of the page, whose packages and building take half a minute."""
    if only == "format":
        return []
    tests = [pytest_stage(name, nightly=nightly) for name in _WITHOUT_PAGE if only is None]
    return tests + python_lint_stages()


def page_stages(npm: Sequence[str], only: str | None, *, nightly: bool) -> list[Stage]:
    """Those that need the page's packages, or the page."""
    if only == "format":
        return [Stage("biome", (*npm, "run", "--silent", "format"), _FRONTEND)]
    if only == "lint":
        return page_lint_stages(npm, is_built=False)
    return test_stages(npm, nightly=nightly) + page_lint_stages(npm, is_built=True)


if __name__ == "__main__":
    sys.exit(main())
