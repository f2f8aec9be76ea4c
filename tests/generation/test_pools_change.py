"""Pools that change while the process runs: read again, adopted, and never lost by a mistake."""

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from backend.generation.admission.queues import PoolQueues
from backend.generation.pools import config
from backend.generation.pools.config import PoolConfig, Pools, PoolsError, PoolsFiles, read_pools
from backend.platform.errors import Overloaded


def model(name: str, *, aliases: str = "", url: str = "http://127.0.0.1:1") -> str:
    return f"""
[[model]]
id = "{name}"
aliases = [{aliases}]
context_window = 100
max_output_tokens = 50
capabilities = ["chat"]
price_per_1k = {{ input = "0.1", cached_input = "0.05", output = "0.2" }}
[[model.replica]]
name = "a"
url = "{url}"
"""


@pytest.fixture(autouse=True)
def looks_at_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "_CHECK_INTERVAL_S", 0.0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "50-default.toml").write_text(model("small", aliases='"auto"'))
    return tmp_path


def ids(pools: Pools) -> list[str]:
    return [pool.id for pool in pools.models]


def test_first_file_by_name_has_the_alias(folder: Path) -> None:
    large = folder / "90-large.toml"
    large.write_text(model("large", aliases='"auto", "big"'))
    pools = read_pools(folder, {})
    assert ids(pools) == ["small", "large"]
    assert pools.find("auto").id == "small"
    assert pools.find("big").id == "large"
    large.rename(folder / "10-large.toml")
    pools = read_pools(folder, {})
    assert ids(pools) == ["large", "small"]
    assert pools.find("auto").id == "large"
    assert pools.get("small") is not None


def test_two_models_of_one_id_are_a_mistake_in_a_folder_too(folder: Path) -> None:
    (folder / "60-again.toml").write_text(model("small"))
    with pytest.raises(PoolsError, match="'small' is used by two models"):
        read_pools(folder, {})


def test_alias_that_is_another_files_id_is_a_mistake(folder: Path) -> None:
    (folder / "60-again.toml").write_text(model("other", aliases='"small"'))
    with pytest.raises(PoolsError, match="'small' is used by two models"):
        read_pools(folder, {})


def test_empty_folder_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(PoolsError, match=r"has no \*\.toml"):
        read_pools(tmp_path, {})


def test_file_that_comes_and_goes_is_followed(folder: Path) -> None:
    files = PoolsFiles(folder, os.environ)
    before = files.current()
    assert files.current() is before, "the same object as long as nothing changes"
    (folder / "10-large.toml").write_text(model("large", aliases='"auto"'))
    assert files.current().find("auto").id == "large"
    (folder / "10-large.toml").unlink()
    assert files.current().find("auto").id == "small"


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "10-bad.toml").write_text("["),
        lambda folder: (folder / "50-default.toml").unlink(),
        lambda folder: (folder / "50-default.toml").write_text("model = 3"),
        lambda folder: (folder / "10-bad.toml").write_text(model("x", url="${NOT_SET}")),
    ],
)
def test_mistake_leaves_what_was_there(folder: Path, damage: Callable[[Path], object]) -> None:
    files = PoolsFiles(folder, {})
    before = files.current()
    damage(folder)
    assert files.current() is before
    for file in folder.glob("*.toml"):
        file.unlink()
    (folder / "20-new.toml").write_text(model("new"))
    assert ids(files.current()) == ["new"], "and the next good one is taken"


def test_mistake_at_the_start_is_said(folder: Path) -> None:
    (folder / "10-bad.toml").write_text("[")
    with pytest.raises(PoolsError, match="is not TOML"):
        PoolsFiles(folder, {}).current()


class Changing:
    """Pools that a test replaces."""

    def __init__(self, folder: Path) -> None:
        self._files = PoolsFiles(folder, {})

    @property
    def models(self) -> tuple[PoolConfig, ...]:
        return self._files.current().models

    def get(self, model_id: str) -> PoolConfig | None:
        return self._files.current().get(model_id)

    def find(self, name: str) -> PoolConfig:
        return self._files.current().find(name)


def test_new_pool_has_a_queue_at_once_and_a_removed_one_keeps_its_own(folder: Path) -> None:
    queues = PoolQueues(Changing(folder), max_waiting=5)
    small = queues["small"]
    assert list(queues) == ["small"]
    (folder / "10-large.toml").write_text(model("large"))
    assert set(queues) == {"small", "large"}
    large = queues["large"]
    assert queues["small"] is small, "what waits there goes on waiting"
    (folder / "10-large.toml").unlink()
    assert queues["large"] is large, "what runs there comes to its end"
    with pytest.raises(KeyError):
        queues["never"]


def test_replica_that_stays_keeps_its_state(folder: Path) -> None:
    queues = PoolQueues(Changing(folder), max_waiting=5)
    [replica] = queues["small"].replicas.replicas
    replica.mark(True, "ready")
    replica.outstanding = 3
    both = model("small", aliases='"auto"') + '[[model.replica]]\nname = "b"\nurl = "http://b:1"\n'
    time.sleep(0.01)
    (folder / "50-default.toml").write_text(both)
    kept, new = queues["small"].replicas.replicas
    assert kept is replica and kept.healthy and kept.outstanding == 3
    assert not new.healthy, "it is not trusted before it was probed"


def test_pool_that_comes_while_draining_takes_nothing(folder: Path) -> None:
    queues = PoolQueues(Changing(folder), max_waiting=5)
    queues.drain()
    (folder / "10-large.toml").write_text(model("large"))
    assert queues["large"].draining and queues["small"].draining


async def test_requests_wait_for_a_model_on_demand_until_it_is_served_no_more(
    folder: Path,
) -> None:
    (folder / "10-large.toml").write_text(
        model("large").replace("[[model]]", "[[model]]\non_demand = true")
    )
    queues = PoolQueues(Changing(folder), max_waiting=5)
    with pytest.raises(Overloaded, match="No replica of 'small'"):
        queues["small"].reserve(priority=0, weight=1, affinity=None)
    assert queues["small"].refuses_all and not queues["large"].refuses_all
    ticket = queues["large"].reserve(priority=0, weight=1, affinity=None)
    assert queues["large"].replicas.was_asked, "what starts its replica is told"
    waiting = asyncio.ensure_future(ticket.granted())
    await asyncio.sleep(0)
    (folder / "10-large.toml").unlink()
    assert set(queues) == {"small", "large"}
    assert [queue.waiting for queue in queues.values()] == [0, 0]
    with pytest.raises(Overloaded, match="'large' is not served any more"):
        await waiting
