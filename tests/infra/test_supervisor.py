"""The supervisor: crashes are restarted, logs are prefixed, an end is an end for everybody."""

import io
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import httpx
import psutil
import pytest

from infra.launcher.console import Console
from infra.launcher.supervisor import Supervisor
from infra.services.ports import free_port

TIMEOUT_SECONDS = 60.0
WAITS = (0.0, 0.49, 0.99)
"""Before the second start, the third and the fourth; `date` reads another clock than `Restarts`."""


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


@pytest.fixture
def supervisor() -> Iterator[Supervisor]:
    supervisor = Supervisor(dict(os.environ), Console())
    yield supervisor
    supervisor.kill()


def tend_until(supervisor: Supervisor, condition: Callable[[], object]) -> None:
    def tended() -> object:
        supervisor.tend()
        return condition()

    wait_until(tended)


def test_process_that_crashes_is_started_again(supervisor: Supervisor) -> None:
    supervisor.add("sleeper", "sleep 600")
    first = supervisor.pid("sleeper")
    assert first is not None
    os.kill(first, signal.SIGKILL)
    tend_until(supervisor, lambda: supervisor.pid("sleeper") not in {None, first})


def test_process_that_is_frozen_is_killed_and_started_again(supervisor: Supervisor) -> None:
    supervisor.add("sleeper", "sleep 600")
    first = supervisor.pid("sleeper")
    assert first is not None
    os.kill(first, signal.SIGSTOP)
    tend_until(supervisor, lambda: supervisor.pid("sleeper") not in {None, first})
    assert not psutil.pid_exists(first)


@pytest.mark.nightly(
    beside="tests/inference/test_loading.py"
    "::test_core_that_freezes_in_its_first_load_ends_the_start_with_the_reason"
)
def test_engine_whose_core_freezes_while_it_loads_is_started_again(
    supervisor: Supervisor, scratch: Path
) -> None:
    """The process that is supervised runs on: it sees that its core does not, and ends; in every
    run, what has ended is started again."""
    from tests.inference.tiny import make_tiny_model  # imports torch, which no other test here does

    model = make_tiny_model(scratch / "tiny-of-supervisor")
    url = f"http://127.0.0.1:{(port := free_port())}"
    options = f"--port {port} --threads 1 --no-api-key --max-load-silence 3"
    supervisor.add("engine", f"{sys.executable} -m inference serve --model {model} {options}")
    first = supervisor.pid("engine")
    assert first is not None
    tend_until(supervisor, psutil.Process(first).children)
    (core,) = psutil.Process(first).children()
    core.send_signal(signal.SIGSTOP)
    tend_until(supervisor, lambda: supervisor.pid("engine") not in {None, first})
    assert not core.is_running()
    tend_until(supervisor, lambda: _is_ready(url))


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/ready", timeout=5).status_code == 200
    except httpx.TransportError:
        return False


def test_process_that_goes_on_in_time_is_left_alone(supervisor: Supervisor) -> None:
    supervisor.add("sleeper", "sleep 600")
    first = supervisor.pid("sleeper")
    assert first is not None
    for _ in range(3):
        os.kill(first, signal.SIGSTOP)
        for _ in range(2):
            time.sleep(1)
            supervisor.tend()
        os.kill(first, signal.SIGCONT)
        tend_until(supervisor, lambda: psutil.Process(first).status() != psutil.STATUS_STOPPED)
        supervisor.tend()
    assert supervisor.pid("sleeper") == first


def test_process_that_keeps_crashing_waits_longer_each_time(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    starts = tmp_path / "starts"
    supervisor.add("crasher", f"sh -c 'date +%s.%N >> {starts}; exit 3'")
    tend_until(supervisor, lambda: starts.exists() and len(starts.read_text().split()) >= 4)
    times = [float(line) for line in starts.read_text().split()][:4]
    waits = [later - earlier for earlier, later in pairwise(times)]
    # At least what `Restarts` says, however long a busy machine takes for a start.
    assert all(wait >= least for wait, least in zip(waits, WAITS, strict=True)), waits


def test_logs_carry_the_name_of_their_process(
    supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    # pytest's own capture loses what is printed while it is being read.
    printed = io.StringIO()
    monkeypatch.setattr(sys, "stdout", printed)
    supervisor.add("speaker", "sh -c 'echo hello; echo trouble >&2; sleep 600'")
    wait_until(lambda: {"hello", "trouble"} <= set(printed.getvalue().split()))
    lines = printed.getvalue().splitlines()
    assert any("speaker |" in line and line.endswith("hello") for line in lines)
    assert any("speaker |" in line and line.endswith("trouble") for line in lines)


def test_stop_ends_web_before_the_engine(supervisor: Supervisor, tmp_path: Path) -> None:
    """Web finishes what it streams, and needs the engine for that."""
    order = tmp_path / "order"
    trap = 'trap "sleep 0.2; echo {name} >> {order}; exit 0" TERM; touch {ready}'
    names = ("engine", "web")
    for name in names:
        command = trap.format(name=name, order=order, ready=tmp_path / name)
        supervisor.add(name, f"sh -c '{command}; sleep 600 & wait'")
    wait_until(lambda: all((tmp_path / name).exists() for name in names))
    supervisor.stop()
    assert order.read_text().split() == ["web", "engine"]


def test_children_that_a_process_leaves_behind_are_ended(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    note = tmp_path / "child"
    supervisor.add("parent", f"sh -c 'sleep 600 & echo $! > {note}; wait'")
    wait_until(lambda: note.exists() and note.read_text().strip())
    child = psutil.Process(int(note.read_text()))
    pid = supervisor.pid("parent")
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    tend_until(supervisor, lambda: not child.is_running())


def test_supervisor_that_is_killed_leaves_no_process_behind() -> None:
    script = textwrap.dedent("""
        import os, time
        from infra.launcher.console import Console
        from infra.launcher.supervisor import Supervisor
        supervisor = Supervisor(dict(os.environ), Console())
        supervisor.add("sleeper", "sleep 600")
        print("pid", supervisor.pid("sleeper"), flush=True)
        time.sleep(600)
    """)
    launcher = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert launcher.stdout is not None
    sleeper = psutil.Process(int(launcher.stdout.readline().split()[1]))
    launcher.kill()
    launcher.wait()
    psutil.wait_procs([sleeper], timeout=TIMEOUT_SECONDS)
    assert not sleeper.is_running()


def test_nice_process_is_nice_at_each_start_until_it_may_be_usual(supervisor: Supervisor) -> None:
    supervisor.add("sleeper", "sleep 600", niceness=7)
    first = supervisor.pid("sleeper")
    assert first is not None
    wait_until(lambda: supervisor.is_nice("sleeper"))
    assert os.getpriority(os.PRIO_PROCESS, first) == os.nice(0) + 7
    os.kill(first, signal.SIGKILL)
    tend_until(supervisor, lambda: supervisor.pid("sleeper") not in {None, first})
    wait_until(lambda: supervisor.is_nice("sleeper"))
    supervisor.be_usual("sleeper")
    assert not supervisor.is_nice("sleeper"), "or it cannot be, and is not asked again"


def test_removed_process_is_not_started_again(supervisor: Supervisor) -> None:
    supervisor.add("sleeper", "sleep 600")
    first = supervisor.pid("sleeper")
    assert first is not None
    os.kill(first, signal.SIGKILL)
    tend_until(supervisor, lambda: supervisor.pid("sleeper") not in {None, first})
    assert supervisor.ends_in_a_row("sleeper") == 1
    second = supervisor.pid("sleeper")
    assert "SIGKILL" in supervisor.remove("sleeper")
    supervisor.tend()
    assert second is not None and not psutil.pid_exists(second)
