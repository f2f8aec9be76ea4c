"""One engine process, as a replica's actor keeps it: real, with a tiny model."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from infra.ray.engine import (
    MAX_SILENCE_S,
    MAX_UNANSWERED_S,
    NO_ANSWER,
    EngineFailedError,
    EngineProcess,
    SignsOfLife,
)
from infra.services.ports import free_port
from tests.inference.tiny import make_tiny_model

KEY = "a key of engines"
HEADERS = {"Authorization": f"Bearer {KEY}"}
START_TIMEOUT_S = 170.0


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture(scope="module")
def tiny(scratch: Path) -> Path:
    return make_tiny_model(scratch / "tiny-on-ray", context=4096, ends=False)


def test_drain_waits_for_what_runs_and_takes_nothing_new(tiny: Path) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    arguments = ["--model", str(tiny), "--port", str(port), "--threads", "1"]
    engine = EngineProcess(arguments, os.environ, url=url, key=KEY)
    engine.start(START_TIMEOUT_S)
    assert engine.requests() == 0
    family = [psutil.Process(engine.pid), *psutil.Process(engine.pid).children(recursive=True)]
    assert len(family) > 1, "server and core"
    body = {"prompt": "abc", "max_tokens": 600}
    answers: list[dict[str, Any]] = []

    def ask() -> None:
        given = httpx.post(f"{url}/v1/completions", json=body, headers=HEADERS, timeout=120)
        answers.append(given.json())

    asking = threading.Thread(target=ask)
    asking.start()
    wait_until(lambda: engine.requests() == 1)
    left: list[int] = []
    draining = threading.Thread(target=lambda: left.append(engine.drain(120.0)))
    draining.start()
    wait_until(lambda: _refuses(url, body))
    draining.join()
    asking.join()
    assert left == [0]
    assert answers[0]["usage"]["completion_tokens"] == 600
    assert engine.failure == "", "it was told to end"
    assert not any(process.is_running() for process in family)


def _refuses(url: str, body: dict[str, Any]) -> bool:
    """Whether new work is refused; an engine that has ended refuses it too."""
    try:
        return httpx.post(f"{url}/v1/completions", json=body, headers=HEADERS).status_code == 503
    except httpx.TransportError:
        return True


@pytest.mark.parametrize(
    "is_real",
    [
        False,
        pytest.param(
            True,
            marks=pytest.mark.nightly(
                beside="tests/infra/ray/test_engine_process.py"
                "::test_engine_that_freezes_as_soon_as_it_is_ready_is_killed"
            ),
        ),
    ],
)
def test_engine_that_freezes_as_soon_as_it_is_ready_is_killed(tiny: Path, is_real: bool) -> None:
    """By day it is a program that is ready at once; a real one freezes in the next test."""
    port = free_port()
    arguments = ["--model", str(tiny), "--port", str(port), "--threads", "1"]
    environment = {**os.environ, "PARLEY_ENGINE_PORT": str(port)}
    engine = EngineProcess(arguments, environment, url=f"http://127.0.0.1:{port}", key=KEY)
    if not is_real:
        engine._command = [sys.executable, "-m", "tests.infra.ready_engine"]
    engine.start(START_TIMEOUT_S)
    server = psutil.Process(engine.pid)
    family = [server, *server.children(recursive=True)]
    server.send_signal(signal.SIGSTOP)
    wait_until(lambda: engine.failure)
    assert "neither answered nor computed" in engine.failure
    assert engine.wait() == engine.failure
    assert not any(process.is_running() for process in family)
    assert engine.drain(10.0) == 0, "as Serve does, which ends the replica then"


def children_of_port(port: str) -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if port in child.cmdline()]


def test_engine_that_freezes_while_it_loads_is_killed(tiny: Path) -> None:
    port = str(free_port())
    arguments = ["--model", str(tiny), "--port", port, "--threads", "1"]
    url = f"http://127.0.0.1:{port}"
    engine = EngineProcess(arguments, os.environ, url=url, key=KEY, max_load_silence_s=3.0)
    with ThreadPoolExecutor(1) as starting:
        started = starting.submit(engine.start, START_TIMEOUT_S)
        wait_until(lambda: children_of_port(port))
        [server] = children_of_port(port)
        wait_until(server.children)  # its core: it loads
        family = [server, *server.children(recursive=True)]
        server.send_signal(signal.SIGSTOP)
        with pytest.raises(EngineFailedError, match="froze while it loaded"):
            started.result(60)
    assert engine.wait() == engine.failure
    assert not any(process.is_running() for process in family)


def test_engine_that_cannot_start_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    port = free_port()
    arguments = ["--model", str(tmp_path / "none.gguf"), "--port", str(port)]
    engine = EngineProcess(arguments, os.environ, url=f"http://127.0.0.1:{port}", key=KEY)
    with pytest.raises(EngineFailedError, match="ended with exit code"):
        engine.start(START_TIMEOUT_S)
    assert not psutil.pid_exists(engine.pid)


def test_killed_actor_leaves_no_engine() -> None:
    """Nor when the engine itself is stopped: the kernel kills it with what started it."""
    program = """
import os, sys, time
from infra.ray.engine import EngineProcess
engine = EngineProcess([], os.environ, key="")
engine._command = [sys.executable, "-c", "import time; time.sleep(600)"]
engine.start(60.0)
print(engine.pid, flush=True)
time.sleep(600)
"""
    actor = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert actor.stdout is not None
    engine = psutil.Process(int(actor.stdout.readline()))
    engine.send_signal(signal.SIGSTOP)
    actor.kill()
    actor.wait()
    wait_until(lambda: not engine.is_running() or engine.status() == psutil.STATUS_ZOMBIE)


def signs_of(max_down_s: float = 60.0, max_load_silence_s: float = 600.0) -> SignsOfLife:
    return SignsOfLife(max_down_s, max_load_silence_s)


def looked_at(signs: SignsOfLife, *looks: tuple[int | None, int]) -> list[str]:
    """What is said after each look, one second apart: at a status, and how often it has run."""
    return [signs.seen(1.0, status, (0.0, runs)) for status, runs in looks]


def test_server_that_neither_answers_nor_computes_has_failed() -> None:
    signs = signs_of()
    assert looked_at(signs, (200, 1), *[(None, 1)] * int(MAX_SILENCE_S)) == [""] * 6
    assert "neither answered nor computed" in looked_at(signs, (None, 1))[0]


def test_server_that_froze_before_its_first_answer_has_failed() -> None:
    signs = signs_of()
    loads = [(None, runs) for runs in range(600)]
    assert not any(looked_at(signs, *loads, *[(NO_ANSWER, 600)] * (1 + int(MAX_SILENCE_S))))
    assert "neither answered nor computed" in looked_at(signs, (NO_ANSWER, 600))[0]


def test_busy_server_may_miss_answers_for_long_and_not_for_ever() -> None:
    signs = signs_of()
    busy = [(None, 1 + look) for look in range(int(MAX_UNANSWERED_S))]
    assert not any(looked_at(signs, (200, 0), *busy))
    assert "has not answered" in looked_at(signs, (None, 99))[0]


def test_machine_that_slept_says_nothing_about_its_engine() -> None:
    signs = signs_of()
    assert looked_at(signs, (200, 1)) == [""]
    assert signs.seen(3_600.0, None, (0.0, 1)) == ""


def test_engine_that_loads_is_waited_for_as_long_as_it_moves() -> None:
    signs = signs_of(max_load_silence_s=20.0)
    slow = [(None, minute) for minute in range(60) for _ in range(20)]
    assert not any(looked_at(signs, *slow))
    assert "froze while it loaded" in looked_at(signs, *[(None, 59)] * 2)[1]


@pytest.mark.parametrize(("max_down_s", "looks"), [(60.0, 60), (0.0, 0)])
def test_core_may_come_back_where_it_can(max_down_s: float, looks: int) -> None:
    signs = signs_of(max_down_s)
    assert not any(looked_at(signs, (200, 1), *[(503, 1)] * looks))
    assert "core has been away" in looked_at(signs, (503, 1))[0]
