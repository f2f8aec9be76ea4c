"""Stored files in requests: read in threads of their own, since they may lie on another machine.

A storage that hangs fills these threads, and holds up nothing but files.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import IO, Any, ParamSpec, TypeVar

from backend.platform.bounded_threads import BoundedThreads
from backend.platform.errors import StorageUnavailable

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

CHUNK_BYTES = 256 << 10
# Longer than a storage takes to say that it does not answer (backend/object_storage.py).
MAX_WAIT_S = 60.0
_THREADS = BoundedThreads("storage", at_once=4, waiting=100)


async def in_storage(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Run `function`, which reads or writes files, and may use the database.

    Raises:
        StorageUnavailable: it took too long; the thread goes on.
        Overloaded: too many wait.
    """
    try:
        async with asyncio.timeout(MAX_WAIT_S):
            return await _THREADS.run(function, *args, **kwargs)
    except TimeoutError:
        raise StorageUnavailable(
            "The storage of files does not answer. Try again.", retry_after=5
        ) from None


async def stored_chunks(file: IO[Any], within: range | None = None) -> AsyncIterator[bytes]:
    """An open file's bytes, a chunk at a time; it is closed at the end.

    Args:
        within: these bytes; None: all.
    """
    left = len(within) if within is not None else None
    try:
        if within is not None:
            await in_storage(file.seek, within.start)
        while left != 0:
            size = CHUNK_BYTES if left is None else min(CHUNK_BYTES, left)
            if not (chunk := await in_storage(file.read, size)):
                return
            left = None if left is None else left - len(chunk)
            yield chunk
    finally:
        file.close()
