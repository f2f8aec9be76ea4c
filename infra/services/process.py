"""Server processes: started so that they cannot outlive us, ended together with their children.

Invariants:
- A process started here gets a signal from the kernel when the thread that started it dies
  (PR_SET_PDEATHSIG), so a launcher that is killed with SIGKILL leaves nothing behind. Start
  services from a thread that lives as long as they should: in practice the main thread.
- Each runs in a session of its own: Ctrl-C in a terminal reaches the launcher only, which
  then ends its services in the right order.
- Processes are ended by pid, checked against their start time, never by name.
"""

import contextlib
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import psutil

from infra.services.errors import PortBusyError, ServiceError, ServiceStartError
from infra.services.ports import free_port, hold_free_port, hold_port, port_is_free
from infra.services.unprivileged import Account

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)

CONNECT_TIMEOUT_S = 5
"""For a server that somebody configured."""
_START_ATTEMPTS_ON_CHOSEN_PORTS = 5
_POLL_SECONDS = 0.01


def die_with_parent(death_signal: signal.Signals) -> Callable[[], None]:
    """A `preexec_fn` that asks the kernel for `death_signal` when the starting thread dies.

    subprocess changes the user before it calls this, which matters: a change of credentials
    would clear the request again.
    """
    parent = os.getpid()

    def ask_kernel() -> None:
        _libc.prctl(_PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
        if os.getppid() != parent:  # it died between our fork and the request
            os._exit(1)

    return ask_kernel


def spawn(
    command: Sequence[str | Path],
    *,
    log: Path,
    environment: Mapping[str, str] | None = None,
    account: Account | None = None,
    death_signal: signal.Signals = signal.SIGTERM,
    cwd: Path | None = None,
) -> subprocess.Popen[bytes]:
    """Start `command` with its output appended to `log`; it dies when the calling thread does."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        return subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=dict(environment) if environment is not None else None,
            cwd=cwd,
            start_new_session=True,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
            preexec_fn=die_with_parent(death_signal),  # noqa: PLW1509 - see module docstring
        )


def end_tree(pid: int, *, stop_signal: signal.Signals = signal.SIGTERM, grace: float = 10) -> None:
    """End the process `pid` and all that it started; after `grace` seconds with SIGKILL.

    Only the top process is asked, because servers end their children in their own order;
    what is left after that is killed.
    """
    try:
        top = psutil.Process(pid)
        family = [top, *top.children(recursive=True)]
        top.send_signal(stop_signal)
    except psutil.NoSuchProcess:
        return
    _, alive = psutil.wait_procs([top], timeout=grace)
    leftovers = {*alive, *(process for process in family if process.is_running())}
    for process in leftovers:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(list(leftovers), timeout=5)


def tail(log: Path, lines: int = 5, *, begin: int = 0) -> str:
    """The last lines of a log, from byte `begin` on, joined into one, for error messages."""
    try:
        with log.open("rb") as file:
            file.seek(begin)
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    return " | ".join(line.strip() for line in text.splitlines()[-lines:] if line.strip())


class Service(ABC):
    """One server process on the loopback.

    `start()` returns when it answers its protocol; `stop()` when it and its children are gone.
    Both may be called again at any time. A service can be started again after a stop and then
    has the data it had (the event log excepted, which promises nothing: decision 0001).
    """

    name: ClassVar[str]
    wheel: ClassVar[str]
    """The package that has the server's program."""
    variable: ClassVar[str]
    """The environment variable that configures one from outside; set to `url` where this runs."""
    check: ClassVar[str]
    """What `/readyz` calls it."""
    meaning: ClassVar[str]
    """What may be configured: the variable's row in docs/operations.md."""
    when_lost: ClassVar[tuple[str, str, str, str]]
    """Its row there in "What happens when a part is lost"."""
    question: ClassVar[bytes]
    """The least of its protocol that makes the server say something."""
    stop_signal: signal.Signals = signal.SIGTERM
    start_timeout: float = 30.0

    def __init__(self, data_dir: Path, *, port: int | None = None, durable: bool = True) -> None:
        """
        Args:
            data_dir: belongs to this service alone; made when missing.
            port: a port to insist on, or None to take any free one.
            durable: False for data that is thrown away: as fast as the server can without
                keeping it safe.
        """
        self.data_dir = data_dir
        self.durable = durable
        self._fixed_port = port
        self._port: int | None = port
        self._process: subprocess.Popen[bytes] | None = None
        self._reservation: socket.socket | None = None
        self._log_begin = 0  # where in the log the words of the present process begin

    @property
    def port(self) -> int:
        if self._port is None:
            raise ServiceError(f"{self.name} has no port before it is started.")
        return self._port

    @property
    def pid(self) -> int | None:
        """The server's pid, or None when it does not run."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    @property
    def exit_code(self) -> int | None:
        """How the server ended that was started and not stopped; None while it runs."""
        return self._process.poll() if self._process is not None else None

    @property
    def last_words(self) -> str:
        """The end of what the present server, or the last one, wrote to its log."""
        return tail(self.log, begin=self._log_begin)

    @property
    def log(self) -> Path:
        return self.data_dir / f"{self.name}.log"

    @property
    def pid_file(self) -> Path:
        return self.data_dir / f"{self.name}.pid"

    @staticmethod
    @abstractmethod
    def try_url(url: str) -> None:
        """Ask the server at `url`, which somebody configured, whether it can be used.

        Raises:
            UnusableURLError: it cannot.
        """

    @property
    @abstractmethod
    def url(self) -> str:
        """What goes into the environment variable of this service."""

    @property
    @abstractmethod
    def program(self) -> Path:
        """The server's executable."""

    @property
    def working_directory(self) -> Path:
        """Where the server and its children run, and no other process of `program`."""
        return self.data_dir

    @abstractmethod
    def _prepare(self) -> None:
        """Make the data directory ready. Called before each start."""

    @abstractmethod
    def _launch(self) -> subprocess.Popen[bytes]:
        """Start the server on `self.port`."""

    @abstractmethod
    def _answers(self) -> bool:
        """Whether the server answers its own protocol now."""

    def reserve(self) -> str:
        """Choose the port now, and keep it free for a later `start`; the URL to be."""
        if self._reservation is None and self.pid is None:
            self.data_dir.mkdir(parents=True, exist_ok=True)
            fixed = self._fixed_port
            self._reservation = hold_free_port() if fixed is None else hold_port(fixed)
            self._port = self._reservation.getsockname()[1]
        return self.url

    def start(self) -> None:
        """Start the server and wait until it answers.

        Raises:
            PortBusyError: the port that was insisted on is taken.
            BinaryMissingError: the wheel is not installed.
            ServiceStartError: it ended or kept silent; the message holds its last log lines.
        """
        if self.pid is not None:
            return
        self.data_dir.mkdir(parents=True, exist_ok=True)
        self._end_leftover()
        self._prepare()
        self._end_reservation()
        if self._fixed_port is not None:
            if not port_is_free(self._fixed_port):
                raise PortBusyError(self.name, self._fixed_port)
            self._start_once()
            return
        for attempt in range(_START_ATTEMPTS_ON_CHOSEN_PORTS):
            # A restart keeps its port where it can, so that clients find it again.
            if self._port is None or not port_is_free(self._port):
                self._port = free_port()
            try:
                self._start_once()
                return
            except ServiceStartError:
                lost_the_port = not port_is_free(self._port)
                if not lost_the_port or attempt == _START_ATTEMPTS_ON_CHOSEN_PORTS - 1:
                    raise

    def start_again(self) -> int:
        """Start a server that has ended, on the port that it had, and do not wait for it.

        Returns:
            Its pid.
        Raises:
            PortBusyError: another process has taken the port meanwhile.
            ServiceError, OSError: it could not be started.
        """
        self.kill()
        self._end_leftover()
        self._prepare()
        if not port_is_free(self.port):
            raise PortBusyError(self.name, self.port)
        return self._spawn().pid

    def stop(self) -> None:
        """End the server cleanly, its children too."""
        self._end_reservation()
        process, self._process = self._process, None
        if process is not None:
            if process.poll() is None:
                end_tree(process.pid, stop_signal=self.stop_signal)
            process.wait()
        self.pid_file.unlink(missing_ok=True)

    def kill(self) -> None:
        """End the server as a crash would (SIGKILL), its children too."""
        process, self._process = self._process, None
        if process is not None:
            if process.poll() is None:
                end_tree(process.pid, stop_signal=signal.SIGKILL)
            process.wait()
        self.pid_file.unlink(missing_ok=True)

    def destroy(self) -> None:
        """Stop, and delete the data."""
        self.stop()
        shutil.rmtree(self.data_dir, ignore_errors=True)

    def _end_reservation(self) -> None:
        if self._reservation is not None:
            self._reservation.close()
            self._reservation = None

    def _spawn(self) -> subprocess.Popen[bytes]:
        self._log_begin = self.log.stat().st_size if self.log.exists() else 0
        process = self._process = self._launch()
        self.pid_file.write_text(f"{process.pid} {psutil.Process(process.pid).create_time()}\n")
        return process

    def _start_once(self) -> None:
        process = self._spawn()
        deadline = time.monotonic() + self.start_timeout
        while not self._answers():
            code = process.poll()
            if code is not None:
                self.stop()
                reason = f"it ended with exit code {code}"
                raise ServiceStartError(self.name, reason, self.last_words)
            if time.monotonic() > deadline:
                self.stop()
                reason = f"no answer within {self.start_timeout:.0f} s"
                raise ServiceStartError(self.name, reason, self.last_words)
            time.sleep(_POLL_SECONDS)

    def _end_leftover(self) -> None:
        """End a server of ours on the same data that an earlier launcher left behind, and
        children whose server was killed.

        The kernel ends ours with their launcher, but shortly afterwards: a quick restart may
        still find it in the middle of its shutdown, and two servers must never share data.
        """
        try:
            pid_text, started_text = self.pid_file.read_text().split()
            process = psutil.Process(int(pid_text))
            if abs(process.create_time() - float(started_text)) < 0.05:
                end_tree(process.pid, stop_signal=self.stop_signal)
        except (OSError, ValueError, psutil.NoSuchProcess):
            pass
        self.pid_file.unlink(missing_ok=True)
        self._kill_orphans()

    def _kill_orphans(self) -> None:
        """Kill who still runs our program in our directory: PostgreSQL's sessions outlive a
        killed server until they next look, and its successor does not start before that."""
        program, directory = str(self.program.resolve()), str(self.working_directory.resolve())
        orphans = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                if process.exe() == program and process.cwd() == directory:
                    process.kill()
                    orphans.append(process)
        psutil.wait_procs(orphans, timeout=5)
