"""`PARLEY_TEST_COSTS=1`: which tests, files and kinds of processes cost most, in processor seconds.

Where this process may make a group of its own (`cpuacct`: root, control groups of version 1), what
it and all that it starts have taken is exact, also beside other work. Elsewhere it is what the
whole machine did while each test ran: of use where nothing else runs.
"""

import contextlib
import os
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil
import pytest

SHOWN = 30
# What a process takes after it was last looked at is not seen.
_LOOK_S = 0.25
_GROUPS = Path("/sys/fs/cgroup/cpuacct")


class Group:
    """This process and all that it starts from now on, or the machine."""

    def __init__(self) -> None:
        folder = _GROUPS / f"parley-tests-{os.getpid()}"
        self._usage: Path | None = None
        with contextlib.suppress(OSError):
            folder.mkdir()
            (folder / "cgroup.procs").write_text(str(os.getpid()))
            self._usage = folder / "cpuacct.usage"

    def processor_s(self) -> float:
        """All cores' together, since any moment."""
        if self._usage is not None:
            return int(self._usage.read_text()) / 1e9
        used = psutil.cpu_times()
        return used.user + used.nice + used.system

    def processes(self) -> Iterator[psutil.Process]:
        """Those that run now."""
        if self._usage is None:
            yield from psutil.process_iter()
            return
        for pid in (self._usage.parent / "cgroup.procs").read_text().split():
            with contextlib.suppress(psutil.NoSuchProcess):
                yield psutil.Process(int(pid))

    def leave(self) -> None:
        """Only a group that is empty can be removed."""
        if self._usage is not None:
            with contextlib.suppress(OSError):
                (_GROUPS / "cgroup.procs").write_text(str(os.getpid()))
                self._usage.parent.rmdir()


def kind_of(name: str, command: list[str]) -> str:
    """What a process is: its name, and of a Python the module or file that it runs."""
    if not name.startswith("python"):
        return name
    if "-m" in command[:-1]:
        return f"python -m {command[command.index('-m') + 1]}"
    if "-c" in command[:-1]:
        return "python -c"
    file = next((word for word in command[1:] if not word.startswith("-")), "")
    return f"python {Path(file).name}"


class Kinds:
    """Looks at all processes of a group, in a thread of its own, until it is stopped."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._taken_s: dict[tuple[int, float], float] = {}
        self._kinds: dict[tuple[int, float], str] = {}
        self._before: dict[tuple[int, float], float] = {}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._look()
        self._before = dict(self._taken_s)
        self._thread.start()

    def stop(self) -> dict[str, float]:
        """Seconds of each kind since the start."""
        self._stopped.set()
        self._thread.join()
        self._look()
        seconds: defaultdict[str, float] = defaultdict(float)
        for process, taken in self._taken_s.items():
            seconds[self._kinds[process]] += taken - self._before.get(process, 0.0)
        return seconds

    def _run(self) -> None:
        while not self._stopped.wait(_LOOK_S):
            self._look()

    def _look(self) -> None:
        for process in self._group.processes():
            with contextlib.suppress(psutil.Error), process.oneshot():
                key = process.pid, process.create_time()
                times = process.cpu_times()
                taken = times.user + times.system
                # A new name is that of another program, or of a fork that has begun its own work.
                if self._taken_s.get(key) != taken:
                    self._kinds[key] = kind_of(process.name(), process.cmdline())
                self._taken_s[key] = taken


class Costs:
    """What first needs a fixture that others share pays for it."""

    def __init__(self) -> None:
        self._group = Group()
        self._began_s = self._group.processor_s()
        self._tests: dict[str, float] = {}
        self._files: defaultdict[str, float] = defaultdict(float)
        self._kinds = Kinds(self._group)
        self._kinds.start()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        before = self._group.processor_s()
        try:
            return (yield)
        finally:
            took = self._group.processor_s() - before
            self._tests[item.nodeid] = took
            self._files[item.location[0]] += took

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        total = self._group.processor_s() - self._began_s
        terminalreporter.section(f"{SHOWN} costliest tests of {total:.0f} s of processor time")
        _write(terminalreporter, self._tests)
        terminalreporter.section("files")
        _write(terminalreporter, self._files)
        terminalreporter.section("kinds of processes")
        _write(terminalreporter, self._kinds.stop())

    def pytest_unconfigure(self) -> None:
        self._group.leave()


def _write(terminalreporter: pytest.TerminalReporter, costs: Mapping[str, float]) -> None:
    for name, seconds in sorted(costs.items(), key=lambda cost: -cost[1])[:SHOWN]:
        terminalreporter.write_line(f"{seconds:7.1f} s  {name}")


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("PARLEY_TEST_COSTS"):
        config.pluginmanager.register(Costs(), "costs")
