"""The engines of one run: real ones with small caches, one thread each."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

from infra.services.ports import free_port
from infra.services.process import end_tree

MODEL = "bench"
"""What the engines call what they serve."""
_WEIGHTS = Path("var/models/SmolLM2-135M-Instruct.Q4_1.gguf")
_READY_S = 180.0
_FINISHED = re.compile(r"^vllm:request_success_total{[^}]*} (\S+)$", re.MULTILINE)


@contextmanager
def engines(count: int, blocks: int, folder: Path) -> Iterator[list[str]]:
    """Their addresses; `blocks`: of each one's KV cache; `folder`: for their logs."""
    ports = [free_port() for _ in range(count)]
    processes = [_start(folder, port, blocks) for port in ports]
    urls = [f"http://127.0.0.1:{port}" for port in ports]
    try:
        for url in urls:
            wait_for(f"{url}/ready", _READY_S)
        yield urls
    finally:
        for process in processes:
            end_tree(process.pid)
            process.wait()


def finished(urls: Sequence[str]) -> list[int]:
    """How many answers each engine has ended so far, by its own count."""
    texts = [httpx.get(f"{url}/metrics", timeout=10).raise_for_status().text for url in urls]
    return [sum(int(float(count)) for count in _FINISHED.findall(text)) for text in texts]


def wait_for(url: str, seconds: float) -> None:
    """Wait until a GET is answered with 200. Raises TimeoutError."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            if httpx.get(url, timeout=5).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        if time.monotonic() > deadline:
            raise TimeoutError(f"{url} was not well after {seconds:g} s")
        time.sleep(0.2)


def _start(folder: Path, port: int, blocks: int) -> subprocess.Popen[bytes]:
    weights = os.environ.get("PARLEY_MODEL_FILE", str(_WEIGHTS))
    with (folder / f"{port}.log").open("wb") as log:
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "inference", "serve", "--model", weights),
                *("--served-model-name", MODEL, "--port", str(port), "--no-api-key"),
                *("--int8-activations", "auto", "--threads", "1", "--num-blocks", str(blocks)),
                "--no-prompt-lookup",
            ],
            stdout=log,
            stderr=log,
        )
