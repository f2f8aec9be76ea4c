"""Whether another process runs, and whether it could, seen from outside: all that one shows while
it loads, or when it is silent."""

from __future__ import annotations

import time
from collections.abc import Iterator
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


class ProcessorShare:
    """Whether a process has wanted a processor and not got one, which a process that hangs does
    not: stopped or deadlocked it wants none, and in an endless loop it has one."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._ran_ns: dict[str, int] = {}
        self._looked_ns = time.monotonic_ns()

    def is_starved(self) -> bool:
        """Whether one of its threads could run now and has run for less than half of the time
        since the look before; False where the system does not tell (it is not Linux)."""
        now_ns = time.monotonic_ns()
        half_ns = (now_ns - self._looked_ns) // 2
        self._looked_ns = now_ns
        before, self._ran_ns = self._ran_ns, {}
        starved = False
        for thread, could_run, ran_ns in _threads(self._pid):
            self._ran_ns[thread] = ran_ns
            if could_run and thread in before and ran_ns - before[thread] < half_ns:
                starved = True
        return starved


def _threads(pid: int) -> Iterator[tuple[str, bool, int]]:
    """Each thread's name for the system, whether it runs or could, and for how many ns it ran."""
    for task in Path(f"/proc/{pid}/task").glob("*"):
        try:
            state = (task / "stat").read_text().rpartition(")")[2].split()[0]
            ran_ns = int((task / "schedstat").read_text().split()[0])
        except (
            OSError,
            IndexError,
        ):  # the thread has ended; or a kernel that keeps no such figures
            continue
        yield task.name, state == "R", ran_ns
