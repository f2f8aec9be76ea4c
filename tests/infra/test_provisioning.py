"""A model that cannot come after the start: the product keeps the small one, and says why.

One that comes is in tests/e2e/test_better_model.py: it is seen arriving, by page and API.
"""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from backend.generation.pools.pending import PendingModel, pending_models
from infra.launcher.console import Console
from infra.launcher.model_spec import read_spec
from infra.launcher.provisioning import PoolsFolder, Provisioning, Publisher
from infra.launcher.supervisor import Supervisor
from infra.launcher.up import SMALL, Launch
from infra.services.ports import LOOPBACK, free_port
from tests.support.model_sources import Sources, write_spec


@pytest.fixture(scope="module")
def sources() -> Iterator[Sources]:
    made = Sources()
    yield made
    made.close()


@pytest.fixture
def provision(
    services: None, tmp_path: Path, sources: Sources, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Provisioning]]:
    """Begins what the launcher begins: a real fetching process, and its progress in Valkey."""
    for name, value in sources.environment().items():
        monkeypatch.setenv(name, value)
    begun: list[tuple[Provisioning, Publisher]] = []

    def begin(spec_file: Path, declined: str | None = None) -> Provisioning:
        spec = read_spec(str(spec_file))
        publisher = Publisher(spec, os.environ["REDIS_URL"])
        provisioning = Provisioning(
            spec,
            models=tmp_path / "models",
            pools=PoolsFolder(tmp_path),
            supervisor=Supervisor(os.environ, Console()),
            engine_command="false",
            console=Console(),
            publisher=publisher,
            declined=declined,
        )
        begun.append((provisioning, publisher))
        return provisioning

    yield begin
    for provisioning, publisher in begun:
        provisioning.stop()
        publisher.stop()


def published(provisioning: Provisioning) -> PendingModel:
    """What web processes read of the model, once it is declined."""
    deadline = time.monotonic() + 120
    while True:
        provisioning.tend()
        if (found := pending_models()) and found[0].state == "declined":
            return found[0]
        assert time.monotonic() < deadline, found
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"memory": 10**15}, "it needs 1000000.0 GB of memory"),
        ({"size": 10**15}, "1000000.2 GB of disk"),
        ({"sha256": "0" * 64}, "the SHA-256 is not the one we know"),
    ],
)
def test_model_that_cannot_be_had_is_declined_with_the_reason(
    provision: Callable[..., Provisioning],
    tmp_path: Path,
    sources: Sources,
    capsys: pytest.CaptureFixture[str],
    changes: dict[str, object],
    reason: str,
) -> None:
    content = os.urandom(2_000_000)
    sources.add_to_hub(content)
    model = published(provision(write_spec(tmp_path / "spec", content, **changes)))
    assert reason in model.detail
    assert model.name == "Large model of the tests"
    said = capsys.readouterr().out
    assert reason in said
    assert "The small model stays." in said
    assert not (tmp_path / "models" / "model.gguf").exists()


def test_model_that_is_not_wanted_is_not_fetched(
    provision: Callable[..., Provisioning], tmp_path: Path, sources: Sources
) -> None:
    sources.served.asked.clear()
    spec = write_spec(tmp_path / "spec", b"never asked for")
    model = published(provision(spec, declined="MODEL=small was asked for"))
    assert model.detail == "MODEL=small was asked for"
    assert sources.served.asked == []


def test_larger_model_is_declined_when_the_small_one_is_asked_for(
    services: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `manage.py up --model small`."""
    monkeypatch.setenv("PARLEY_VAR", str(tmp_path))
    launch = Launch(host=LOOPBACK, port=free_port(), model=SMALL, console=Console())
    larger = launch._larger_model(Supervisor(os.environ, Console()), "false")
    try:
        assert published(larger).detail == "MODEL=small was asked for"
    finally:
        larger.stop()
        larger._publisher.stop()
