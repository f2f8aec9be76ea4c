"""What a process has freed goes back to the system: the C library keeps it for itself."""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress


def give_back_freed_memory() -> None:
    """Return free pages of the heap to the system, where its C library can (glibc).

    Loading leaves tens of megabytes that are never used again; some milliseconds.
    """
    gc.collect()
    with suppress(OSError, TypeError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
