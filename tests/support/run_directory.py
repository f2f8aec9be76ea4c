"""Where a run of the tests keeps what it throws away: in memory, where that has room.

Clusters of databases are thousands of small files. On a disk each costs half a millisecond of the
kernel's time to make, and what is written to it is written out though nobody will read it again.
Runs that were killed left theirs behind: the next run removes them.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

_MEMORY = Path("/dev/shm")
# Four runs side by side have some hundred megabytes each.
_ROOM = 4 << 30
_PREFIX = "parley-tests-"
# Held by its run; there from the moment that it is held.
_LOCK = "run.lock"


@contextmanager
def run_directory(parent: Path | None = None) -> Iterator[Path]:
    """A new directory that the database's account can pass and nobody can list; gone afterwards."""
    parent = parent or _roomy()
    _remove_left_behind(parent)
    directory = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    directory.chmod(0o711)
    new = directory / f"{_LOCK}.new"
    with new.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        new.rename(directory / _LOCK)
        try:
            yield directory
        finally:
            shutil.rmtree(directory, ignore_errors=True)


def _roomy() -> Path:
    """Containers often have little of it, and one that fills it is ended."""
    if _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK):
        free = os.statvfs(_MEMORY)
        room = min(free.f_bavail * free.f_frsize, psutil.virtual_memory().available)
        if room >= _ROOM:
            return _MEMORY
    return Path(tempfile.gettempdir())


def _remove_left_behind(parent: Path) -> None:
    for path in parent.glob(f"{_PREFIX}*/{_LOCK}"):
        with contextlib.suppress(OSError), path.open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # a run that lives holds it
            shutil.rmtree(path.parent, ignore_errors=True)
