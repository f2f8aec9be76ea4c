"""What the tests of blocks from elsewhere start from."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.services.ports import free_port
from tests.inference.connector.prefilling import answer, make_engine
from tests.inference.test_families import make_folder


@pytest.fixture(scope="session")
def model(tmp_path_factory) -> Path:
    """The folder of a small model with random weights: leave it as it is."""
    folder = tmp_path_factory.mktemp("model")
    make_folder("llama", folder)
    return folder


@pytest.fixture(scope="session")
def expected(model) -> list[int]:
    """What an engine answers to `PROMPT` that computes it itself."""
    tokens = answer(make_engine(model)[0])
    assert len(set(tokens)) > 1
    return tokens


@pytest.fixture(params=["tcp", "shared memory"])
def address(request, tmp_path) -> str:
    if request.param == "tcp":
        return f"tcp://127.0.0.1:{free_port()}"
    return f"ipc://{tmp_path}/prefill"
