"""The product, started as a person and as the tests start it, serves and ends."""

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import psutil
import pytest

from inference.kernels.cpu.compile import load_kernels
from infra.launcher import probe
from infra.launcher.procfile import ROOT
from infra.services.ports import accepts_connections, free_port
from tests.support.engine import Engine
from tests.support.product import Product

pytestmark = pytest.mark.model

TIMEOUT_SECONDS = 300


def test_product_of_the_tests_serves_a_token_and_meters_it(live_product: Product) -> None:
    recorded = "SELECT generation_id, output_tokens FROM billing_usagerecord"
    before = {record["generation_id"] for record in live_product.rows(recorded)}
    failure = probe.wait_for_first_token(
        live_product.url, live_product.demo_login, engine_url=None, timeout=60
    )
    assert failure is None
    new = [
        record for record in live_product.rows(recorded) if record["generation_id"] not in before
    ]
    assert [record["output_tokens"] for record in new] == [1]


def test_engine_of_the_procfile_rounds_activations_where_the_processor_can(
    model_engine: Engine,
) -> None:
    kernels = load_kernels()
    can_round = kernels is not None and bool(kernels.parley_has_int8())
    kept = "float16" if can_round else "float32"
    metrics = httpx.get(f"{model_engine.url}/metrics").text
    assert f'cache_dtype="{kept}"' in metrics


@pytest.mark.timeout(TIMEOUT_SECONDS + 60)
def test_up_serves_a_first_token_and_ends_everything_on_ctrl_c(
    model_file: Path, scratch: Path
) -> None:
    var = scratch / "up"
    (var / "models").mkdir(parents=True)
    (var / "models" / model_file.name).symlink_to(model_file)
    port = free_port()
    own = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PARLEY_")
        and name not in {"DATABASE_URL", "REDIS_URL", "KAFKA_BOOTSTRAP_SERVERS"}
    }
    launcher = subprocess.Popen(
        [sys.executable, "manage.py", "up", "--model", "small", "--port", str(port)],
        cwd=ROOT,
        env={**own, "PARLEY_VAR": str(var)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    giving_up = threading.Timer(TIMEOUT_SECONDS, launcher.kill)
    giving_up.start()
    lines = []
    assert launcher.stdout is not None
    for line in launcher.stdout:
        lines.append(line)
        if f"Parley serves at http://127.0.0.1:{port}" in line:
            break
    giving_up.cancel()
    assert "Parley serves at" in lines[-1], "".join(lines)
    family = psutil.Process(launcher.pid).children(recursive=True)
    commands = [" ".join(process.cmdline()) for process in family]
    for words in (
        "inference serve",
        "uvicorn",
        "--queues celery ",
        "--queues webhooks ",
        " beat ",
        " relay",
        " aggregate",
        " detect_abuse",
    ):
        assert any(words in command for command in commands), words
    assert any(re.search(r"\d web +\| ", line) for line in lines), "logs are prefixed"
    assert (var / "demo-login.txt").stat().st_mode & 0o077 == 0

    launcher.send_signal(signal.SIGINT)
    rest = launcher.stdout.read()

    assert launcher.wait(timeout=60) == 0, rest
    assert "Traceback" not in rest
    assert not [process for process in family if process.is_running()]
    assert not accepts_connections(port)
