"""A process that waits for a processor is told from one that hangs: only the latter is silent by
its own fault. The processes are real ones; the system's own scheduler starves one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from inference.engine.activity import ProcessorShare

ENDLESS = "while True: pass"
WAITS = "import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()"
LOOK_S = 0.3


@contextmanager
def program(text: str, *, is_idle_class: bool = False) -> Iterator[int]:
    """A Python on one processor; with `is_idle_class` it runs when nothing else there wants to."""
    process = subprocess.Popen([sys.executable, "-c", text])
    try:
        os.sched_setaffinity(process.pid, {min(os.sched_getaffinity(0))})
        if is_idle_class:
            os.sched_setscheduler(process.pid, os.SCHED_IDLE, os.sched_param(0))
        yield process.pid
    finally:
        process.kill()
        process.wait()


def is_starved(pid: int) -> bool:
    share = ProcessorShare(pid)
    share.is_starved()
    time.sleep(LOOK_S)
    return share.is_starved()


def test_process_that_gets_no_processor_is_starved():
    with program(ENDLESS, is_idle_class=True) as starved, program(ENDLESS):
        time.sleep(0.2)
        assert is_starved(starved)


@pytest.mark.parametrize("text", [WAITS, "import time; time.sleep(60)"])
def test_process_that_waits_for_anything_else_is_not_starved(text):
    with program(text) as pid:
        time.sleep(0.5)  # its imports are over
        assert not is_starved(pid)


def test_stopped_process_is_not_starved_beside_a_busy_one():
    with program(ENDLESS) as stopped:
        os.kill(stopped, signal.SIGSTOP)
        os.waitid(os.P_PID, stopped, os.WSTOPPED | os.WNOWAIT)
        with program(ENDLESS):
            assert not is_starved(stopped)


def test_process_that_is_gone_is_not_starved():
    with program(WAITS) as pid:
        share = ProcessorShare(pid)
    assert not share.is_starved()
