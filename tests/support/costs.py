"""`PARLEY_TEST_COSTS=1`: which tests cost most, in processor seconds of the whole machine while
each ran. So the processes that a test asks count too, whoever started them: of use where nothing
else runs.
"""

import os
from collections.abc import Iterator

import psutil
import pytest

SHOWN = 30


def processor_s() -> float:
    """All cores' together, since the machine's start."""
    used = psutil.cpu_times()
    return used.user + used.nice + used.system


class Costs:
    """What first needs a fixture that others share pays for it."""

    def __init__(self) -> None:
        self._began_s = processor_s()
        self._tests: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        before = processor_s()
        try:
            return (yield)
        finally:
            self._tests[item.nodeid] = processor_s() - before

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        total = processor_s() - self._began_s
        terminalreporter.section(f"{SHOWN} costliest tests of {total:.0f} s of processor time")
        costliest = sorted(self._tests.items(), key=lambda cost: -cost[1])[:SHOWN]
        for name, seconds in costliest:
            terminalreporter.write_line(f"{seconds:7.1f} s  {name}")


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("PARLEY_TEST_COSTS"):
        config.pluginmanager.register(Costs(), "costs")
