"""A test that fails is tried once more in its run, and is not hidden: why it failed is printed as
of any failure, its name stands at the end of `make test`, and a run with more than `LIMIT` of them
is red. See docs/decisions/0321.
"""

import pytest

LIMIT = 3


class SecondTries:
    """Prints why each first try of a run failed, and ends a run that had too many."""

    def __init__(self) -> None:
        self._first_tries: list[pytest.TestReport] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if str(report.outcome) == "rerun":  # what pytest_rerunfailures adds to pytest's own
            self._first_tries.append(report)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if len(self._first_tries) > LIMIT:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for report in self._first_tries:
            terminalreporter.section(f"first try of {report.nodeid}")
            terminalreporter.write_line(report.longreprtext)
        for report in self._first_tries:
            terminalreporter.write_line(f"RERUN {report.nodeid}")
        if len(self._first_tries) > LIMIT:
            terminalreporter.write_line(
                f"FAILED {len(self._first_tries)} tests needed a second try, at most {LIMIT} may"
            )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(SecondTries(), "second-tries")
