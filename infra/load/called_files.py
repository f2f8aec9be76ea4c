"""Notes which of our files a process runs, by epochs that the measurement sets.

`infra.load.files` starts processes so that each imports this first. A byte that all of them see is
the epoch; 0 notes nothing. A file is noted once an epoch, when a function of it is called.
"""

import mmap
import os
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType

EPOCH = "epoch"
_ROOT = f"{Path(__file__).resolve().parents[2]}/"
_FOLDERS = tuple(f"{_ROOT}{name}/" for name in ("backend", "billing", "safety", "inference"))
# The processes whose command has one of these words; others that prepare run at full speed.
PROCESSES = {
    "backend.asgi:application": "web",
    "inference": "engine server",
    "inference.core_main": "engine core",
    "relay": "relay",
    "aggregate": "aggregator",
}


def install(directory: Path) -> None:
    """Begin to note below `directory`, for this thread and those that it will start."""
    names = [PROCESSES[word] for word in sys.orig_argv if word in PROCESSES]
    if not names:
        return
    with (directory / EPOCH).open("r+b") as file:
        epoch = mmap.mmap(file.fileno(), 1)
    notes = (directory / f"{names[-1]}.{os.getpid()}").open("a", buffering=1)
    seen: set[tuple[int, CodeType]] = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if (now := epoch[0]) == 0 or event != "call" or (now, frame.f_code) in seen:
            return
        seen.add((now, frame.f_code))
        if (name := frame.f_code.co_filename).startswith(_FOLDERS):
            notes.write(f"{now}\t{name.removeprefix(_ROOT)}\n")

    threading.setprofile(note)
    sys.setprofile(note)
