"""Runs the processes of the Procfile: logs prefixed, crashes restarted, all ended in order.

All processes are started from the thread that calls `tend()`: the kernel ends a process when
the thread that started it dies (`infra.services.process`), so that thread must be the one that
lives as long as the product.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import psutil

from infra.launcher.console import PROCESS_COLOURS, Console
from infra.launcher.procfile import ROOT, argv
from infra.services.process import die_with_parent, end_tree
from infra.services.restarts import Restarts, how_it_ended

_STOP_GRACE_SECONDS = 15.0
_MAX_FROZEN_SECONDS = 5.0
BACKGROUND_NICENESS = 10


@dataclass(slots=True)
class _Supervised:
    name: str
    command: str
    colour: str
    environment: dict[str, str]
    niceness: int = 0
    last_end: str = ""
    process: subprocess.Popen[bytes] | None = None
    restarts: Restarts = field(default_factory=Restarts)
    frozen_since: float | None = None


class Supervisor:
    """Keeps a set of processes running until it is told to stop.

    A process that ends, for whatever reason, is started again (when: `Restarts`). One that is
    stopped by a signal and not let go on for five seconds is killed, and started again.
    """

    def __init__(self, environment: Mapping[str, str], console: Console) -> None:
        self._environment = {**environment, "PYTHONUNBUFFERED": "1"}
        self._console = console
        self._processes: dict[str, _Supervised] = {}
        self._width = 0

    def add(self, name: str, command: str, *, niceness: int = 0, **variables: str) -> None:
        """Start `command` as process `name`, now; `variables` are for it alone.

        Args:
            niceness: at each start, until `be_usual`: the larger, the more it gives way to others.
        """
        colour = PROCESS_COLOURS[len(self._processes) % len(PROCESS_COLOURS)]
        environment = {**self._environment, **variables}
        supervised = _Supervised(name, command, colour, environment, niceness)
        self._processes[name] = supervised
        self._width = max(self._width, len(name))
        self._start(supervised)

    def pid(self, name: str) -> int | None:
        process = self._processes[name].process
        return process.pid if process is not None and process.poll() is None else None

    def ends_in_a_row(self, name: str) -> int:
        """How often the process has ended since it last ran for a minute."""
        return self._processes[name].restarts.ends

    def last_end(self, name: str) -> str:
        """How it ended the last time by itself; "" where it never did."""
        return self._processes[name].last_end

    def remove(self, name: str) -> str:
        """End the process for good; how it ended the last time by itself."""
        supervised = self._processes.pop(name)
        self._end_together([supervised])
        return supervised.last_end or "it was asked to"

    def is_nice(self, name: str) -> bool:
        """Whether the process runs, with a lower priority than the others."""
        pid = self.pid(name)
        if not self._processes[name].niceness:
            return False
        try:
            return pid is not None and os.getpriority(os.PRIO_PROCESS, pid) > 0
        except ProcessLookupError:
            return False

    def be_usual(self, name: str) -> None:
        """Give the process the priority that others have, as far as the system lets us: raising
        one takes a privilege. It is a nice neighbour for longer then."""
        pid = self.pid(name)
        try:
            family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
            for process in family:
                for thread in process.threads():  # Linux has a priority for each of them
                    os.setpriority(os.PRIO_PROCESS, thread.id, 0)
        except (psutil.Error, OSError):
            self._processes[name].niceness = 0  # not asked again at every look

    def tend(self) -> None:
        """Look after all processes once: restart those that have ended and are due."""
        for supervised in self._processes.values():
            process = supervised.process
            if process is None:
                if supervised.restarts.is_due:
                    self._start(supervised)
            elif (code := process.poll()) is not None:
                self._after_end(supervised, process, f"ended ({how_it_ended(code)})")
            elif _is_frozen_for_long(supervised, process):
                end_tree(process.pid, stop_signal=signal.SIGKILL)
                process.wait()
                how = f"killed: stopped by a signal for {_MAX_FROZEN_SECONDS:g} s"
                self._after_end(supervised, process, how)

    def stop(self, first: Iterable[str] = ("web",)) -> None:
        """End all processes: those of `first` before the rest, which they may still need."""
        groups = [
            [process for name, process in self._processes.items() if name in set(first)],
            [process for name, process in self._processes.items() if name not in set(first)],
        ]
        for group in groups:
            self._end_together(group)

    def kill(self) -> None:
        """End all processes at once, with SIGKILL."""
        for supervised in self._processes.values():
            if supervised.process is not None:
                end_tree(supervised.process.pid, stop_signal=signal.SIGKILL)

    def _start(self, supervised: _Supervised) -> None:
        supervised.restarts.begun()
        try:
            process = subprocess.Popen(
                argv(supervised.command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=supervised.environment,
                cwd=ROOT,
                start_new_session=True,
                preexec_fn=nicely(  # noqa: PLW1509 - see process.py
                    die_with_parent(signal.SIGTERM), supervised.niceness
                ),
            )
        except OSError as error:  # no memory or no process id left: later, perhaps
            wait = supervised.restarts.ended()
            self._log(supervised, f"could not be started ({error}); trying again in {wait:g} s")
            return
        supervised.process, supervised.frozen_since = process, None
        threading.Thread(target=self._copy_log, args=(supervised, process), daemon=True).start()

    def _copy_log(self, supervised: _Supervised, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            text = line.decode(errors="replace").rstrip()
            if text:
                self._log(supervised, text)

    def _after_end(
        self, supervised: _Supervised, process: subprocess.Popen[bytes], how: str
    ) -> None:
        _kill_session(process.pid)  # children that it left behind
        supervised.process = None
        supervised.last_end = how
        wait = supervised.restarts.ended()
        then = f"starting it again in {wait:g} s" if wait else "starting it again"
        self._log(supervised, f"{how}; {then}")

    def _end_together(self, group: list[_Supervised]) -> None:
        """Ask all of `group` to end, and kill what is left of them after the grace period."""
        running = []
        for supervised in group:
            process, supervised.process = supervised.process, None
            if process is not None and process.poll() is None:
                process.terminate()
                running.append(process)
        deadline = time.monotonic() + _STOP_GRACE_SECONDS
        for process in running:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                end_tree(process.pid, stop_signal=signal.SIGKILL)
            _kill_session(process.pid)

    def _log(self, supervised: _Supervised, text: str) -> None:
        self._console.log(supervised.name, text, colour=supervised.colour, width=self._width)


def nicely(before: Callable[[], None], niceness: int) -> Callable[[], None]:
    """A `preexec_fn` that does `before`, and gives way to other processes by so much."""

    def give_way() -> None:
        before()
        if niceness:
            os.nice(niceness)

    return give_way


def _is_frozen_for_long(supervised: _Supervised, process: subprocess.Popen[bytes]) -> bool:
    """Whether the process is stopped (SIGSTOP), and has been at each look for five seconds."""
    try:
        is_stopped = psutil.Process(process.pid).status() == psutil.STATUS_STOPPED
    except psutil.NoSuchProcess:
        return False
    now = time.monotonic()
    if not is_stopped:
        supervised.frozen_since = None
    elif supervised.frozen_since is None:
        supervised.frozen_since = now
    return is_stopped and now - (supervised.frozen_since or now) > _MAX_FROZEN_SECONDS


def _kill_session(leader: int) -> None:
    """Kill whoever is left of the session that the ended process `leader` had led.

    Its id cannot have been given to somebody else while members of its session live.
    """
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == leader:
                process.kill()
        except (ProcessLookupError, PermissionError, psutil.NoSuchProcess):
            continue


def in_background(module: str, *arguments: str) -> "subprocess.Popen[str]":
    """Start `python -m module …`: nice to running answers, its lines to be read, gone with us."""
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        preexec_fn=nicely(  # noqa: PLW1509 - see process.py
            die_with_parent(signal.SIGKILL), BACKGROUND_NICENESS
        ),
    )
