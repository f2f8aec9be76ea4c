"""Whether another process runs at all, seen from outside: all that one shows while it loads."""

from __future__ import annotations

from pathlib import Path

import psutil

Activity = tuple[float, int]


def activity_of(pid: int) -> Activity | None:
    """Its processor time and how often its threads have been switched; None where it is gone.

    Both stay the same only as long as no thread of it has run. Whatever waits for a slow disk or a
    slow network is woken for each part that comes, and so is seen to go on, with next to no
    processor time.
    """
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return None
    return float(times.user + times.system), _switches(pid)


def _switches(pid: int) -> int:
    """0 where the system does not tell (it is not Linux)."""
    count = 0
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        try:
            lines = status.read_text().splitlines()
        except OSError:  # the thread has ended
            continue
        count += sum(int(line.split()[-1]) for line in lines if "ctxt_switches" in line)
    return count


class FamilyActivity:
    """Looks at a process and at what it has started: a compiler, the other ranks of a model."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._seen: dict[int, Activity | None] = {}

    def has_moved(self) -> bool:
        """Whether any of them has run since the look before."""
        if self._changed(self._pid):
            return True
        try:
            children = psutil.Process(self._pid).children(recursive=True)
        except psutil.Error:
            return False
        # All are looked at: one that ran now may not have by the next look.
        moved = [self._changed(child.pid) for child in children]
        return any(moved)

    def _changed(self, pid: int) -> bool:
        before, now = self._seen.get(pid), activity_of(pid)
        self._seen[pid] = now
        return now != before
