"""What loading has made stays, and what it has freed goes back: of either process, once."""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress


def settle_memory() -> None:
    """Look through what was made for garbage, for the last time, and from now on through what comes
    after it only: each full collection of all of it would hold up a step, or the event loop.

    Return the heap's free pages to the system, where its C library can (glibc), which keeps them
    for itself: loading leaves tens of megabytes that are never used again. Some milliseconds.
    """
    gc.collect()
    gc.freeze()
    gc.enable()
    with suppress(OSError, TypeError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
