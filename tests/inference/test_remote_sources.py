"""`s3:` and `hf:` through their own doors: real protocols on loopback, damage and silence."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from inference.cli import main
from inference.errors import ModelLoadError
from inference.model.files.open import open_weights
from inference.model.files.sources import fetch
from infra.services.ports import free_port
from tests.inference.remote_files import S3_KEY, S3_SECRET, Hub, hub_server, s3_server
from tests.inference.test_families import make_folder
from tests.inference.test_sources import SHA256, WEIGHTS, Waits


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def with_sums(folder: Path) -> str:
    """Write the list of the folder's hashes; gives the list's own."""
    lines = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
        for file in sorted(folder.iterdir())
    ]
    sums = folder / "SHA256SUMS"
    sums.write_text("".join(lines))
    return hashlib.sha256(sums.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def buckets(tmp_path_factory) -> Path:
    """A bucket with a file and with a folder that is a model."""
    folder = tmp_path_factory.mktemp("buckets")
    (folder / "weights" / "tiny").mkdir(parents=True)
    (folder / "weights" / "model.gguf").write_bytes(WEIGHTS)
    make_folder("llama", folder / "weights" / "tiny")
    with_sums(folder / "weights" / "tiny")
    return folder


@pytest.fixture(scope="module")
def s3_url(buckets) -> Iterator[str]:
    with s3_server(buckets) as url:
        yield url


@pytest.fixture
def s3(s3_url, monkeypatch) -> str:
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", S3_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", S3_SECRET)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    return s3_url


def test_file_is_fetched_from_a_bucket(s3):
    found = fetch(f"s3:weights/model.gguf#sha256={SHA256}")
    assert found.name == "model.gguf"
    assert found.read_bytes() == WEIGHTS


def test_model_is_fetched_from_a_bucket(s3, buckets):
    sums = hashlib.sha256((buckets / "weights/tiny/SHA256SUMS").read_bytes()).hexdigest()
    folder = fetch(f"s3://weights/tiny#sha256={sums}")
    assert open_weights(str(folder)).config.hidden_size == 64


def test_wrong_hash_from_a_bucket_is_retried_three_times_and_refused(s3, tmp_path):
    waits = Waits()
    other = hashlib.sha256(b"what was published").hexdigest()
    with pytest.raises(ModelLoadError, match=f"tried 4 times.*{SHA256}, not {other}"):
        fetch(f"s3:weights/model.gguf#sha256={other}", wait=waits)
    assert waits == [1.0, 2.0, 4.0]
    assert not [file for file in (tmp_path / "cache").rglob("*") if file.is_file()]


@pytest.mark.parametrize("path", ["weights/none.gguf", "nowhere/model.gguf"])
def test_missing_object_is_not_retried(s3, path):
    waits = Waits()
    with pytest.raises(ModelLoadError, match=f"cannot fetch s3:{path}"):
        fetch(f"s3:{path}", wait=waits)
    assert waits == []


def test_unreachable_server_is_tried_again(s3, monkeypatch):
    waits = Waits()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
    with pytest.raises(ModelLoadError, match="tried 4 times"):
        fetch("s3:weights/model.gguf", wait=waits)
    assert len(waits) == 3


def test_wrong_credentials_are_refused(s3, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "guessed")
    with pytest.raises(ModelLoadError, match=r"tried 4 times.*403"):
        fetch("s3:weights/model.gguf", wait=Waits())


@pytest.fixture
def hub(tmp_path, monkeypatch) -> Iterator[Hub]:
    make_folder("llama", tmp_path / "model")
    with_sums(tmp_path / "model")
    files = {file.name: file.read_bytes() for file in (tmp_path / "model").iterdir()}
    hub = Hub("someone/tiny", {**files, "model.gguf": WEIGHTS})
    with hub_server(hub) as url:
        monkeypatch.setenv("HF_ENDPOINT", url)
        yield hub


def test_model_is_fetched_from_the_hub(hub):
    sums = hashlib.sha256(hub.files["SHA256SUMS"]).hexdigest()
    folder = fetch(f"hf:someone/tiny#sha256={sums}")
    assert open_weights(str(folder)).config.hidden_size == 64
    count = len(hub.downloads)
    assert fetch(f"hf:someone/tiny#sha256={sums}") == folder
    assert len(hub.downloads) == count, "it is kept"


def test_file_is_fetched_from_the_hub_at_a_revision(hub):
    assert fetch(f"hf:someone/tiny@v1/model.gguf#sha256={SHA256}").read_bytes() == WEIGHTS


def test_file_is_checked_by_the_hash_that_the_hub_says(hub):
    hub.published["model.gguf"] = SHA256
    assert fetch("hf:someone/tiny/model.gguf").read_bytes() == WEIGHTS
    hub.files["model.gguf"] = WEIGHTS[:-1] + b"?"
    with pytest.raises(ModelLoadError, match=f"tried 4 times.*, not {SHA256}"):
        fetch("hf:someone/tiny@v2/model.gguf", wait=Waits())


def test_shard_with_wrong_hash_is_refused(hub, tmp_path):
    shard = next(name for name in hub.files if name.endswith(".safetensors"))
    *most, last = hub.files[shard]
    hub.files[shard] = bytes([*most, last ^ 1])
    waits = Waits()
    with pytest.raises(ModelLoadError, match=f"tried 4 times.*{shard} has SHA-256"):
        fetch("hf:someone/tiny", wait=waits)
    assert waits == [1.0, 2.0, 4.0]
    assert not list((tmp_path / "cache").rglob(".complete"))


def test_interrupted_download_is_fetched_again(hub):
    hub.failures = 1
    assert fetch(f"hf:someone/tiny/model.gguf#sha256={SHA256}", wait=Waits()).exists()
    assert hub.failures == 0
    assert hub.downloads.count("model.gguf") >= 2


def test_command_fails_when_the_hub_lacks_the_model(hub, capsys):
    assert main(["serve", "--no-api-key", "--model", "hf:someone/else"]) == 2
    assert "cannot fetch hf:someone/else: " in capsys.readouterr().err
