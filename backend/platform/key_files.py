"""The file of master secrets: made, added to, shortened. One writer at a time, mode 0600.

A reader sees the file before or after a change, never in between. Without Django, so that the
launcher can make the first one.
"""

import fcntl
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from backend.platform.keys import KeyringError, MasterKey, parse_keys

_HEADER = """\
# Master secrets of this installation: VERSION:SECRET@UNIX_TIME from which it writes.
# Whoever reads this file reads everything that is encrypted. `manage.py rotate-keys` changes it.
"""


def new_secret() -> str:
    return secrets.token_urlsafe(32)


def keys_file_ensure(path: Path) -> None:
    """Make the file with version 1, unless there is one."""
    with _alone(path):
        if not path.exists():
            _write(path, [MasterKey(1, new_secret())])


def key_add(path: Path, *, writes_from: int) -> MasterKey:
    """Append the next version, which writes from `writes_from` (Unix seconds) on."""
    added: list[MasterKey] = []

    def change(keys: list[MasterKey]) -> list[MasterKey]:
        version = max((key.version for key in keys), default=0) + 1
        added.append(MasterKey(version, new_secret(), writes_from))
        return [*keys, *added]

    _change(path, change)
    return added[0]


def key_remove(path: Path, version: int) -> None:
    """Take a version out. Raises KeyringError: it is not there."""

    def change(keys: list[MasterKey]) -> list[MasterKey]:
        kept = [key for key in keys if key.version != version]
        if len(kept) == len(keys):
            raise KeyringError(f"{path} has no key version {version}.")
        return kept

    _change(path, change)


def _change(path: Path, change: Callable[[list[MasterKey]], list[MasterKey]]) -> None:
    with _alone(path):
        _write(path, change(list(parse_keys(path.read_text()).values())))


def _write(path: Path, keys: list[MasterKey]) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(_HEADER + "".join(f"{key}\n" for key in sorted(keys, key=lambda k: k.version)))
        file.flush()
        os.fsync(file.fileno())
    temporary.rename(path)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = os.open(path.with_name(f".{path.name}.lock"), os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
