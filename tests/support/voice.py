"""A voice server beside a running product: the tiny one, or the real one where it is there."""

import os
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from infra.launcher import voice
from infra.launcher.procfile import ROOT
from infra.services.ports import free_port
from tests.support.engine import ENGINE_KEY
from tests.support.pools import pools_beside
from tests.support.processes import ProductProcess
from tests.support.product import Product
from tests.support.sounds import tone

MODELS = Path(os.environ.get("PARLEY_VOICE_MODELS") or ROOT / "var" / "models" / "voice")
REAL = bool(os.environ.get("PARLEY_TEST_VOICE"))
"""`make test-voice`: whatever the tests ask is heard and spoken by the real models."""


@contextmanager
def voice_beside(product: Product) -> Iterator[str]:
    """The product with both models of voice; the server's address."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = f"python -m tests.support.tiny_voice {port}"
    if REAL:
        if not voice.is_there(MODELS):
            pytest.fail("The voice models are not there: `make voice` fetches them.")
        command = f"python -m voice --models {MODELS} serve --port {port}"
    environment = {**os.environ, "PARLEY_VOICE_API_KEY": ENGINE_KEY}
    server = ProductProcess("voice", command, environment, product.directory / "voice.log")
    server.start()
    try:
        while not _is_up(url):
            assert server.is_running, server.last_words
            time.sleep(0.1)
        _warm_up(url)
        written = voice.POOLS.read_text().replace("${PARLEY_VOICE_URL}", url)
        with pools_beside(product, tomllib.loads(written)["model"]):
            yield url
    finally:
        server.stop()


def _warm_up(url: str) -> None:
    """What a server imports for its first request takes seconds on a busy machine, in which it
    answers no probe."""
    with httpx.Client(
        base_url=url, timeout=120, headers={"Authorization": f"Bearer {ENGINE_KEY}"}
    ) as asked:
        asked.post("/transcribe", content=tone(0.5)).raise_for_status()
        asked.post("/speak", json={"input": "Yes.", "format": "pcm"}).raise_for_status()


def _is_up(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", timeout=1).status_code == 200
    except httpx.HTTPError:
        return False
