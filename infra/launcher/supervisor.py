"""Runs the processes of the Procfile: logs prefixed, crashes restarted, all ended in order.

All processes are started from the thread that calls `run()`: the kernel ends a process when
the thread that started it dies (`infra.services.process`), so that thread must be the one that
lives as long as the product.
"""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import psutil

from infra.launcher.console import PROCESS_COLOURS, Console
from infra.launcher.procfile import ROOT, argv
from infra.services.process import die_with_parent, end_tree

_FIRST_BACKOFF_SECONDS = 0.5
_LONGEST_BACKOFF_SECONDS = 30.0
_STABLE_AFTER_SECONDS = 60.0
_POLL_SECONDS = 0.1
_STOP_GRACE_SECONDS = 15.0


@dataclass(slots=True)
class _Supervised:
    name: str
    command: str
    colour: str
    environment: dict[str, str]
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    crashes: int = 0
    start_at: float = field(default=0.0)  # monotonic time of the next start

    def backoff(self) -> float:
        return float(
            min(_LONGEST_BACKOFF_SECONDS, _FIRST_BACKOFF_SECONDS * 2 ** max(0, self.crashes - 1))
        )


class Supervisor:
    """Keeps a set of processes running until it is told to stop.

    A process that ends, for whatever reason, is started again: at once the first time, later
    with waits that double up to 30 s; after a minute of calm the count starts anew.
    """

    def __init__(self, environment: Mapping[str, str], console: Console) -> None:
        self._environment = {**environment, "PYTHONUNBUFFERED": "1"}
        self._console = console
        self._processes: dict[str, _Supervised] = {}
        self._width = 0

    def add(self, name: str, command: str, **variables: str) -> None:
        """Start `command` as process `name`, now; `variables` are for it alone."""
        colour = PROCESS_COLOURS[len(self._processes) % len(PROCESS_COLOURS)]
        environment = {**self._environment, **variables}
        supervised = _Supervised(name, command, colour, environment)
        self._processes[name] = supervised
        self._width = max(self._width, len(name))
        self._start(supervised)

    def pid(self, name: str) -> int | None:
        process = self._processes[name].process
        return process.pid if process is not None and process.poll() is None else None

    def tend(self) -> None:
        """Look after all processes once: restart those that have ended and are due."""
        now = time.monotonic()
        for supervised in self._processes.values():
            process = supervised.process
            if process is None:
                if now >= supervised.start_at:
                    self._start(supervised)
            elif (code := process.poll()) is not None:
                self._after_end(supervised, code, now)

    def run(self, stop: threading.Event) -> None:
        """Tend the processes until `stop` is set."""
        while not stop.wait(_POLL_SECONDS):
            self.tend()

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
        supervised.started = time.monotonic()
        process = supervised.process = subprocess.Popen(
            argv(supervised.command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=supervised.environment,
            cwd=ROOT,
            start_new_session=True,
            preexec_fn=die_with_parent(signal.SIGTERM),  # noqa: PLW1509 - see process.py
        )
        threading.Thread(target=self._copy_log, args=(supervised, process), daemon=True).start()

    def _copy_log(self, supervised: _Supervised, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            text = line.decode(errors="replace").rstrip()
            if text:
                self._log(supervised, text)

    def _after_end(self, supervised: _Supervised, code: int, now: float) -> None:
        assert supervised.process is not None
        _kill_session(supervised.process.pid)  # children that it left behind
        supervised.process = None
        if now - supervised.started > _STABLE_AFTER_SECONDS:
            supervised.crashes = 0
        supervised.crashes += 1
        wait = supervised.backoff()
        supervised.start_at = now + wait
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        self._log(supervised, f"ended ({how}); starting it again in {wait:g} s")

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
