"""Fetches a model of this machine, and looks at it: `python -m infra.launcher.acquire JSON`.

The argument is a `Wanted`. What it does it prints, one JSON object a line: {"state": "fetching",
"done": bytes, "total": bytes}, {"state": "checking"}, and as its last line {"state": "done",
"found": Found} or {"state": "failed", "reason": "…"}.

A process of its own, so that it can be nice to running answers, be killed at any moment, and take
torch's memory with it. Nothing of a package is run, and of a folder only weights and texts are
taken; where they come from is in inference/model/files/sources.py.
"""

import contextlib
import hashlib
import re
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from infra.launcher.errors import LaunchError
from infra.launcher.resources import free_disk, gigabytes

if TYPE_CHECKING:
    from inference.model.config import ModelConfig

_REPORT_SECONDS = 0.5
_ROOM_BESIDE = 200_000_000
"""Bytes that must be left on the disk, for the product's data."""
USUAL_CONTEXT = 8192
SEATS = 8
_SEQUENCES_IN_FULL = 2
"""Of the longest texts so many at once have their keys and values in memory."""
_PROCESSES_MEMORY = 700_000_000
"""Of an engine's two processes without a model, with its working memory."""
_BLOCK = 16


class Wanted(msgspec.Struct, frozen=True):
    """Attributes:
    sha256: what it had when it was first fetched; "" then.
    """

    source: str
    directory: str
    sha256: str = ""
    memory: int = 0
    max_model_len: int = 0


class Found(msgspec.Struct, frozen=True):
    """A model that is there and can be served.

    Attributes:
        path: of its file or folder.
        size: bytes of its files.
        sha256: of the file, or of the list of a folder's hashes.
        memory: bytes that its engine takes.
        num_blocks: of keys and values, 16 tokens each; 0: the engine's own choice.
    """

    path: str
    size: int
    sha256: str
    memory: int
    max_model_len: int
    capabilities: list[str]
    license: str = ""
    num_blocks: int = 0


def acquire(wanted: Wanted, say: Any) -> Found:
    """The model of `wanted.source`, fetched unless it is there, checked and looked at.

    Raises:
        LaunchError: it cannot be had or served; the message says why.
    """
    from inference.errors import ModelLoadError
    from inference.model.files.sources import fetch, place_of, size_of

    directory = Path(wanted.directory)
    directory.mkdir(parents=True, exist_ok=True)
    place = place_of(wanted.source, directory)
    _tidy(place)
    try:
        total = size_of(wanted.source)
        if not (place / ".complete").exists():
            _check_room(directory, total)
        with _reported(place, total, say):
            path = fetch(wanted.source, cache=directory)
        say(state="checking")
        sha256 = hash_of(path)
        if wanted.sha256 and sha256 != wanted.sha256:
            shutil.rmtree(place, ignore_errors=True)  # a path's own file is not touched
            raise LaunchError(
                f"its SHA-256 is {sha256}, and was {wanted.sha256} when it was added:"
                " it has changed or is damaged; start it again to fetch it anew, or add it again"
            )
        return _looked_at(path, sha256, wanted)
    except ModelLoadError as error:
        raise LaunchError(str(error)) from error


def hash_of(path: Path) -> str:
    """Of a file; of a folder, the SHA-256 of what `sha256sum` says of its files, by their names."""
    if path.is_file():
        return _sha256(path)
    files = sorted(file for file in path.rglob("*") if file.is_file())
    lines = (f"{_sha256(file)}  {file.relative_to(path)}\n" for file in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _looked_at(path: Path, sha256: str, wanted: Wanted) -> Found:
    """Raises ModelLoadError where the engine cannot serve it."""
    import torch

    from inference.model.files.open import open_weights
    from inference.model.kv_memory import token_bytes
    from inference.text.load import load_text

    config = open_weights(str(path)).config
    _, template = load_text(str(path))
    longest = min(wanted.max_model_len or USUAL_CONTEXT, config.max_position)
    blocks = 0 if config.is_encoder else _SEQUENCES_IN_FULL * -(-longest // _BLOCK)
    cache = blocks * _BLOCK * token_bytes(config, config.num_layers, torch.float32)
    size = _size(path)
    weights = size * 5 // 4 if path.is_file() else size * 9 // 4
    return Found(
        path=str(path.resolve()),
        size=size,
        sha256=sha256,
        memory=wanted.memory or _PROCESSES_MEMORY + weights + cache,
        max_model_len=longest,
        capabilities=_capabilities(config, template),
        license=_license(path),
        num_blocks=blocks,
    )


def _capabilities(config: "ModelConfig", template: Any) -> list[str]:
    if config.is_encoder:
        return ["embeddings", "rerank"]
    able = ["completions", "embeddings", "rerank", "logprobs", "streaming", "structured_output"]
    if template is None:
        return able
    return ["chat", *able, "tools", "grammar_resume", "public_prefix", "prediction"]


def _license(path: Path) -> str:
    """What the model says of itself: its card's front matter, or GGUF's metadata."""
    if path.is_file():
        from inference.model.gguf_format import GGUFFile

        return str(GGUFFile(path, vocabulary=False).metadata.get("general.license") or "")[:100]
    card = path / "README.md"
    text = card.read_text(errors="replace")[:5000] if card.exists() else ""
    found = re.search(r"^license:\s*['\"]?([\w.+-]+)", text, re.MULTILINE)
    return found[1] if found else ""


def _check_room(directory: Path, total: int) -> None:
    needed, free = total + _ROOM_BESIDE, free_disk(directory)
    if free < needed:
        raise LaunchError(
            f"it needs {gigabytes(needed)} of disk in {directory}, and {gigabytes(free)} are free"
        )


@contextmanager
def _reported(place: Path, total: int, say: Any) -> Iterator[None]:
    """Say how much has come, again and again."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_REPORT_SECONDS):
            say(state="fetching", done=_size(place), total=total)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _tidy(place: Path) -> None:
    """Remove packages that a killed fetch has left."""
    for left in place.glob("tmp*"):
        shutil.rmtree(left, ignore_errors=True)


def _size(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    total = 0
    for file in path.rglob("*"):
        with contextlib.suppress(OSError):  # it has just got its name
            total += file.stat().st_size if file.is_file() else 0
    return total


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main(arguments: list[str]) -> int:
    def say(**what: object) -> None:
        print(msgspec.json.encode(what).decode(), flush=True)

    try:
        found = acquire(msgspec.json.decode(arguments[0], type=Wanted), say)
    except (LaunchError, OSError) as error:
        say(state="failed", reason=str(error))
        return 1
    except Exception as error:  # a file that says what no model can be is no crash of ours
        say(state="failed", reason=f"it cannot be read: {type(error).__name__}: {error}")
        return 1
    say(state="done", found=found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
