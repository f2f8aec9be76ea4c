"""Computed prefixes are kept outside the engine and come back, for their tenant only."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from inference.config import EngineConfig
from inference.connector.kv_cipher import KVCipher, WrongKeyError
from inference.connector.kv_offload import KVOffload
from inference.connector.kv_place import kv_store_at
from inference.connector.kv_store import Directory, HostMemory, KVStore
from inference.core import Request
from inference.core_main import make_kv_offload
from inference.errors import ModelLoadError
from inference.protocol import AddRequest
from tests.inference.conftest import Driver, greedy
from tests.inference.connector.prefilling import PROMPT, make_engine
from tests.inference.remote_files import S3_KEY, S3_SECRET, s3_server
from tests.inference.serving import wait_for

KEY = "a key of thirty-two characters, or more"
GROUP_BLOCKS = 2  # 32 tokens: PROMPT has two whole groups
GROUPS = 2


class Engine:
    """An engine that keeps its prefixes in `store`."""

    def __init__(self, model: Path, store: KVStore) -> None:
        self.core, runner = make_engine(model)
        self.offload = KVOffload(self.core, runner.blocks, store, group_blocks=GROUP_BLOCKS)
        self.core.keeper = self.offload
        self.driver = Driver(self.core)

    def answer(self, salt: str = "") -> tuple[list[int], int]:
        """The tokens for PROMPT, and how many of it were not computed."""
        message = AddRequest("asked", PROMPT, greedy(max_tokens=12), cache_salt=salt)
        if self.offload.take(message):
            wait_for(lambda: self.offload.arrived() == [message])
        name = self.driver.add(PROMPT, greedy(max_tokens=12), salt=salt)
        return self.driver.run()[name], self.driver.cached[name]

    def written(self, groups: int) -> None:
        wait_for(lambda: self.offload.groups_written >= groups)


@pytest.fixture
def engine(model: Path) -> Iterator[Callable[[KVStore], Engine]]:
    made: list[Engine] = []

    def make(store: KVStore) -> Engine:
        made.append(Engine(model, store))
        return made[-1]

    yield make
    for one in made:
        one.offload.close()


def on_disk(
    folder: Path, key: str = KEY, model: str = "model", max_bytes: int = 1 << 30
) -> KVStore:
    return kv_store_at(str(folder), model=model, key=key, max_bytes=max_bytes, memory_bytes=0)


def test_another_engine_finds_what_one_has_computed(engine, expected, tmp_path) -> None:
    first = engine(on_disk(tmp_path))
    assert first.answer("tenant") == (expected, 0)
    first.written(GROUPS)
    assert engine(on_disk(tmp_path)).answer("tenant") == (expected, GROUPS * 32)


def test_host_memory_outlives_the_prefix_cache(engine, expected) -> None:
    memory = KVStore(HostMemory(1 << 30), None, None)
    one = engine(memory)
    assert one.answer()[0] == expected
    one.written(GROUPS)
    for block_id in range(one.core.kv.pool.total):
        one.core.kv.pool.forget(block_id)
    assert one.answer() == (expected, GROUPS * 32)


def test_another_tenant_finds_nothing_and_another_key_opens_nothing(
    engine, expected, tmp_path
) -> None:
    first = engine(on_disk(tmp_path))
    first.answer("tenant")
    first.written(GROUPS)
    assert engine(on_disk(tmp_path)).answer("other") == (expected, 0)
    other_key = on_disk(tmp_path, key=KEY[::-1])
    assert engine(other_key).answer("tenant") == (expected, 0)


def test_other_model_has_another_folder(engine, expected, tmp_path) -> None:
    first = engine(on_disk(tmp_path))
    first.answer()
    first.written(GROUPS)
    assert engine(on_disk(tmp_path, model="other")).answer() == (expected, 0)


def test_nothing_of_a_prompt_is_readable_on_the_disk(engine, tmp_path, model) -> None:
    one = engine(on_disk(tmp_path))
    one.answer("tenant")
    one.written(GROUPS)
    [cached] = one.core.kv.find_prefix(_salted("tenant")).blocks
    plain = one.offload._blocks.read(cached[:GROUP_BLOCKS])
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == GROUPS
    assert all(plain[:64] not in path.read_bytes() for path in files)


@pytest.mark.parametrize("damage", [b"", b"short", b"x" * 4096], ids=["empty", "short", "wrong"])
def test_damaged_file_is_computed_again(engine, expected, tmp_path, damage) -> None:
    first = engine(on_disk(tmp_path))
    first.answer()
    first.written(GROUPS)
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        path.write_bytes(damage)
    assert engine(on_disk(tmp_path)).answer() == (expected, 0)


def test_first_group_alone_is_used(engine, expected, tmp_path) -> None:
    first = engine(on_disk(tmp_path))
    first.answer()
    first.written(GROUPS)
    hashes = first.core.kv.hashes(_salted(""), 4)
    [path] = [path for path in tmp_path.rglob("*") if path.name == hashes[3].hex()]
    path.unlink()
    assert engine(on_disk(tmp_path)).answer() == (expected, 32)


def _salted(salt: str) -> Request:
    return Request("probe", PROMPT, greedy(), cache_salt=salt)


def test_aborted_request_leaves_no_block(engine, tmp_path) -> None:
    first = engine(on_disk(tmp_path))
    first.answer()
    first.written(GROUPS)
    one = engine(on_disk(tmp_path))
    message = AddRequest("asked", PROMPT, greedy(max_tokens=12))
    assert one.offload.take(message)
    wait_for(lambda: not one.offload._loading["asked"].read.empty())
    assert one.offload.arrived() in ([], [message])
    one.offload.abort(["asked"])
    assert not one.offload.is_waiting
    assert one.core.kv.pool.num_used == 0


def test_request_past_its_deadline_is_added_for_the_core_to_end(engine, tmp_path) -> None:
    first = engine(on_disk(tmp_path))
    first.answer()
    first.written(GROUPS)
    one = engine(on_disk(tmp_path))
    message = AddRequest("asked", PROMPT, greedy(), deadline=time.monotonic() - 1)
    assert one.offload.take(message)
    assert one.offload.arrived() == [message]
    assert one.core.kv.pool.num_used == 0


def test_nothing_is_kept_of_a_request_that_says_so(engine, tmp_path) -> None:
    one = engine(on_disk(tmp_path))
    one.core.add(AddRequest("secret", PROMPT, greedy(max_tokens=2), may_be_kept=False))
    while one.core.scheduler.has_work:
        one.core.step()
    one.offload.close()
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_directory_keeps_to_its_size_and_drops_the_least_recently_used(tmp_path) -> None:
    place = Directory(tmp_path, max_bytes=1000)
    for number in range(12):
        place.put(f"{number:02}", b"x" * 100)
        if place.holds("00"):
            assert place.get("00") == b"x" * 100
            time.sleep(0.01)
    held = sorted(path.name for path in tmp_path.iterdir())
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 1000
    assert "00" in held and "01" not in held and "11" in held
    assert place.get("01") is None


def test_host_memory_keeps_to_its_size() -> None:
    memory = HostMemory(250)
    for number in range(3):
        memory.put(str(number), b"x" * 100)
    memory.put("large", b"x" * 251)
    assert [memory.holds(str(number)) for number in range(3)] == [False, True, True]
    assert not memory.holds("large")


def test_cipher_opens_by_name_salt_model_and_key_only() -> None:
    cipher = KVCipher(KEY, "model")
    sealed = cipher.sealed(b"blocks", "name", "salt")
    assert cipher.opened(sealed, "name", "salt") == b"blocks"
    for other, name, salt in (
        (cipher, "other", "salt"),
        (cipher, "name", "other"),
        (KVCipher(KEY, "other"), "name", "salt"),
        (KVCipher(KEY + "x", "model"), "name", "salt"),
    ):
        with pytest.raises(WrongKeyError):
            other.opened(sealed, name, salt)
    with pytest.raises(ModelLoadError, match="PARLEY_KV_STORE_KEY"):
        KVCipher("short", "model")


def test_bucket_serves_another_engine_and_its_absence_costs_nothing(
    engine, expected, tmp_path, monkeypatch
) -> None:
    (tmp_path / "kept").mkdir()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", S3_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", S3_SECRET)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")

    def bucket() -> KVStore:
        return kv_store_at(
            "s3://kept/prefixes", model="model", key=KEY, max_bytes=0, memory_bytes=0
        )

    with s3_server(tmp_path) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        first = engine(bucket())
        assert first.answer("tenant") == (expected, 0)
        first.written(GROUPS)

        def is_served() -> bool:
            """Blocks that come too late are computed, as on a busy machine."""
            text, read = engine(bucket()).answer("tenant")
            assert text == expected
            return read == GROUPS * 32

        wait_for(is_served, timeout_s=60)
        assert engine(bucket()).answer("other") == (expected, 0)
    assert engine(bucket()).answer("tenant") == (expected, 0)


def test_options_that_cannot_work_are_refused(model, tmp_path) -> None:
    core, runner = make_engine(model)
    for options, named in (
        ({"kv_store": str(tmp_path)}, "PARLEY_KV_STORE_KEY"),
        ({"kv_store_memory": 1000, "prefix_cache": False}, "prefix cache"),
    ):
        with pytest.raises(ModelLoadError, match=named):
            make_kv_offload(EngineConfig(model=str(model), **options), core, runner)
    assert make_kv_offload(EngineConfig(model=str(model)), core, runner) is None
