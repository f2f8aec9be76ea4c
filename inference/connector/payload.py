"""Shared memory for blocks on their way between two processes of one host.

The receiver makes a segment before it asks and removes it when all has come or it no longer waits.
So nothing is left behind when the prefill engine is killed, answers late or never; and when the
receiver is killed, Python's resource tracker removes what it made.
"""

from __future__ import annotations

import _posixshmem  # type: ignore[import-not-found]  # of CPython; mypy has no stub for it
import os
import secrets
from multiprocessing.shared_memory import SharedMemory
from types import TracebackType

_PREFIX = "parley-prefill-"


class Segment:
    """The receiver's side; memory is used when something is written."""

    def __init__(self, size: int) -> None:
        self._memory = SharedMemory(_PREFIX + secrets.token_hex(8), create=True, size=max(size, 1))
        self.name = self._memory.name

    def read(self, begin: int, size: int) -> bytes:
        assert self._memory.buf is not None
        return bytes(self._memory.buf[begin : begin + size])

    def __enter__(self) -> Segment:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._memory.close()
        self._memory.unlink()


def write(name: str, begin: int, data: bytes) -> None:
    """Write `data` into a receiver's segment, from byte `begin` on.

    Raises:
        ValueError: when it is no such segment, or too small.
        OSError: when it is gone, since the receiver no longer waits, or the host's shared memory
            is full.
    """
    if not name.startswith(_PREFIX) or "/" in name:
        raise ValueError(f"{name!r} is no segment for blocks")
    # Not SharedMemory(name): before Python 3.13 that makes this process an owner too, and its
    # resource tracker would remove the segment.
    handle = _posixshmem.shm_open(f"/{name}", os.O_RDWR, 0o600)
    try:
        if os.fstat(handle).st_size < begin + len(data):
            raise ValueError(f"{begin + len(data)} bytes do not fit the segment {name}")
        left = memoryview(data)
        while left:  # written, not mapped: memory that is full is an error here, a signal there
            begin += (count := os.pwrite(handle, left, begin))
            left = left[count:]
    finally:
        os.close(handle)
