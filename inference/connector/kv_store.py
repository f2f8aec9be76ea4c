"""Where computed keys and values are kept outside the engine: host memory, a disk, a bucket.

A group is `GROUP_BLOCKS` blocks of a prefix, known by the hash of the last of them, which covers
all before it (`cache/kv_cache_manager.py`). Host memory is this process's own. On a disk and in a
bucket groups are encrypted with a key of their tenant's, and other engines of the same model find
them there: one that takes over an answer, or a conversation that comes back after an hour.
Source of the idea: LMCache (Liu et al. 2024, CacheGen).
"""

from __future__ import annotations

import logging
import os
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from inference.connector.kv_cipher import KVCipher, WrongKeyError

log = logging.getLogger(__name__)

GROUP_BLOCKS = 16


@dataclass(frozen=True)
class BlockGroup:
    """Some blocks of a prefix.

    Attributes:
        name: the hash of the last block, in hexadecimal.
        salt: of the tenant, by which they are encrypted; "" of the product's own text.
        end: where they end, in blocks of the prefix.
    """

    name: str
    salt: str
    end: int


class Place(Protocol):
    """Where bytes lie by name. Any method may be called in any thread.

    Raises:
        OSError: it cannot be read or written now.
    """

    def holds(self, name: str) -> bool:
        """Whether it is known to be there; never waits."""
        ...

    def may_hold(self, name: str) -> bool:
        """Whether it is worth asking for; never waits."""
        ...

    def get(self, name: str) -> bytes | None: ...

    def put(self, name: str, data: bytes) -> None: ...


class HostMemory:
    """The groups used last, up to so many bytes."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._held: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def holds(self, name: str) -> bool:
        return name in self._held

    def get(self, name: str) -> bytes | None:
        with self._lock:
            if (data := self._held.get(name)) is not None:
                self._held.move_to_end(name)
            return data

    def put(self, name: str, data: bytes) -> None:
        with self._lock:
            if len(data) > self._max_bytes or name in self._held:
                return
            self._held[name] = data
            self._bytes += len(data)
            while self._bytes > self._max_bytes:
                _, oldest = self._held.popitem(last=False)
                self._bytes -= len(oldest)


class Directory:
    """Files of a folder, the least recently used removed beyond so many bytes. Several engines may
    share it: a file appears whole, and one that another has removed is not there."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._bytes = sum(size for _, size, _ in self._files())
        self._lock = threading.Lock()

    def holds(self, name: str) -> bool:
        return (self._folder / name).exists()

    may_hold = holds

    def get(self, name: str) -> bytes | None:
        path = self._folder / name
        try:
            data = path.read_bytes()
            os.utime(path)
        except FileNotFoundError:
            return None
        return data

    def put(self, name: str, data: bytes) -> None:
        path = self._folder / name
        if path.exists():
            return
        unfinished = self._folder / f".{name}.{os.getpid()}.{threading.get_ident()}"
        try:
            unfinished.write_bytes(data)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
        with self._lock:
            self._bytes += len(data)
            if self._bytes > self._max_bytes:
                self._make_room()

    def _make_room(self) -> None:
        """Down to nine tenths, so that not every group has all files listed."""
        files = sorted(self._files())
        self._bytes = sum(size for _, size, _ in files)
        for _, size, path in files:
            if self._bytes <= 0.9 * self._max_bytes:
                return
            path.unlink(missing_ok=True)
            self._bytes -= size

    def _files(self) -> list[tuple[float, int, Path]]:
        """When each was used last, its size, its path."""
        found = []
        for path in self._folder.iterdir():
            try:
                status = path.stat()
            except FileNotFoundError:
                continue
            found.append((status.st_mtime, status.st_size, path))
        return found


class KVStore:
    """The tiers together.

    Args:
        memory: None: none of it.
        place: a disk or a bucket; None: none.
        cipher: for what is kept at `place`.
    """

    def __init__(
        self, memory: HostMemory | None, place: Place | None, cipher: KVCipher | None
    ) -> None:
        assert place is None or cipher is not None
        self._memory = memory
        self._place = place
        self._cipher = cipher

    def holds(self, name: str) -> bool:
        """Whether a group is known to be where it outlives this process, if there is such a place;
        asked in the engine's loop."""
        try:
            if self._place is not None:
                return self._place.holds(name)
        except OSError:
            return True  # it could not be written either
        return self._memory is not None and self._memory.holds(name)

    def may_hold(self, name: str) -> bool:
        """Whether a group is worth asking for; asked in the engine's loop."""
        if self._memory is not None and self._memory.holds(name):
            return True
        try:
            return self._place is not None and self._place.may_hold(name)
        except OSError:
            return False

    def get(self, group: BlockGroup) -> bytes | None:
        """Of a group its bytes; None where it is not to be had. Waits, in any thread."""
        if self._memory is not None and (data := self._memory.get(group.name)) is not None:
            return data
        if self._place is None or self._cipher is None:
            return None
        try:
            sealed = self._place.get(group.name)
            data = sealed and self._cipher.opened(sealed, group.name, group.salt)
        except (OSError, WrongKeyError) as error:
            log.warning("kept keys and values cannot be read: %s", error)
            return None
        if data and self._memory is not None:
            self._memory.put(group.name, data)
        return data or None

    def put(self, group: BlockGroup, data: bytes) -> None:
        """Keep a group; what cannot be kept is computed again. Waits, in any thread."""
        if self._memory is not None:
            self._memory.put(group.name, data)
        if self._place is None or self._cipher is None:
            return
        try:
            if not self._place.holds(group.name):
                self._place.put(group.name, self._cipher.sealed(data, group.name, group.salt))
        except OSError as error:
            log.warning("keys and values cannot be kept: %s", error)
