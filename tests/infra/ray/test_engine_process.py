"""One engine process, as a replica's actor keeps it: real, with a tiny model."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
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


def test_engine_that_freezes_as_soon_as_it_is_ready_is_killed(tiny: Path) -> None:
    port = free_port()
    arguments = ["--model", str(tiny), "--port", str(port), "--threads", "1"]
    engine = EngineProcess(arguments, os.environ, url=f"http://127.0.0.1:{port}", key=KEY)
    engine.start(START_TIMEOUT_S)
    server = psutil.Process(engine.pid)
    family = [server, *server.children(recursive=True)]
    server.send_signal(signal.SIGSTOP)
    wait_until(lambda: engine.failure)
    assert "neither answered nor computed" in engine.failure
    assert engine.wait() == engine.failure
    assert not any(process.is_running() for process in family)
    assert engine.drain(10.0) == 0, "as Serve does, which ends the replica then"


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


def looked_at(signs: SignsOfLife, *looks: tuple[int | None, float | None]) -> list[str]:
    """What is said after each look, one second apart."""
    return [signs.seen(1.0, status, used) for status, used in looks]


def test_server_that_neither_answers_nor_computes_has_failed() -> None:
    signs = SignsOfLife(max_down_s=60.0)
    assert looked_at(signs, (200, 1.0), *[(None, 1.0)] * int(MAX_SILENCE_S)) == [""] * 6
    assert "neither answered nor computed" in signs.seen(1.0, None, 1.0)


def test_server_that_froze_before_its_first_answer_has_failed() -> None:
    signs = SignsOfLife(max_down_s=60.0)
    frozen = [(NO_ANSWER, 1.0)] * int(MAX_SILENCE_S)
    assert not any(looked_at(signs, *[(None, 1.0)] * 600, *frozen))
    assert "neither answered nor computed" in signs.seen(1.0, NO_ANSWER, 1.0)


def test_busy_server_may_miss_answers_for_long_and_not_for_ever() -> None:
    signs = SignsOfLife(max_down_s=60.0)
    busy = [(None, 1.0 + look) for look in range(int(MAX_UNANSWERED_S))]
    assert not any(looked_at(signs, (200, 0.5), *busy))
    assert "has not answered" in signs.seen(1.0, None, 99.0)


def test_machine_that_slept_says_nothing_about_its_engine() -> None:
    signs = SignsOfLife(max_down_s=60.0)
    assert looked_at(signs, (200, 1.0)) == [""]
    assert signs.seen(3_600.0, None, 1.0) == ""


def test_loading_engine_is_waited_for() -> None:
    signs = SignsOfLife(max_down_s=0.0)
    assert not any(looked_at(signs, *[(None, 1.0)] * 600))


@pytest.mark.parametrize(("max_down_s", "looks"), [(60.0, 60), (0.0, 0)])
def test_core_may_come_back_where_it_can(max_down_s: float, looks: int) -> None:
    signs = SignsOfLife(max_down_s=max_down_s)
    assert not any(looked_at(signs, (200, 1.0), *[(503, 1.0)] * looks))
    assert "core has been away" in signs.seen(1.0, 503, 1.0)
