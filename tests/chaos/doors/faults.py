"""The random steps: which roles are hit, whether killed or frozen, and when.

Every choice comes from one seed. The next step comes once something that was hit works again or a
reader has got an answer since: the product is hit while it still recovers. Only some roles are
down at a time, so that there is always something to recover.
"""

import contextlib
import random
import signal
import statistics
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import psutil

from tests.chaos.doors.readers import Crowd
from tests.chaos.doors.targets import Target

_FROZEN_PART = 0.25
MAX_RECOVERY_S = 240.0
_MAX_STEP_S = 10.0
_LOOK_S = 0.1


@dataclass
class Faults:
    """What was done, and how long it took each role to be whole again, by its name."""

    killed: Counter[str] = field(default_factory=Counter)
    frozen: Counter[str] = field(default_factory=Counter)
    recovery_s: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    @property
    def hits(self) -> int:
        return self.killed.total() + self.frozen.total()

    def lines(self) -> list[str]:
        """A row of a table for each role."""
        rows = []
        for name in sorted(self.recovery_s):
            seconds = self.recovery_s[name]
            rows.append(
                f"| {name} | {self.killed[name]} | {self.frozen[name]} |"
                f" {statistics.median(seconds):.1f} | {max(seconds):.1f} |"
            )
        return rows


@dataclass(frozen=True)
class _Hit:
    target: Target
    pids: frozenset[int]
    at: float
    replaced: bool


class RandomFaults:
    """One run over a product that is up."""

    def __init__(
        self,
        targets: Sequence[Target],
        crowd: Crowd,
        seed: int,
        *,
        at_once: int = 3,
        left_frozen_part: float = 0.5,
        mend: Callable[[], None] = lambda: None,
    ) -> None:
        """
        Args:
            at_once: roles that are down at a time, at most.
            left_frozen_part: of those that are frozen; the others go on after some seconds.
            mend: called again and again by the thread that calls `run`: starts what has died, where
                nobody else does.
        """
        self._targets = targets
        self._crowd = crowd
        self._choose = random.Random(seed)
        self._at_once = at_once
        self._left_frozen_part = left_frozen_part
        self._mend = mend
        self._hits: dict[str, _Hit] = {}
        self._timers: list[threading.Timer] = []
        self.seen = Faults()

    def run(self, hits: int) -> None:
        """Hit so many processes, and wait until all roles are whole again."""
        while self.seen.hits < hits:
            self._crowd.check()
            room = min(self._at_once - len(self._hits), hits - self.seen.hits)
            if room > 0:
                for target in self._chosen(self._choose.randint(1, room)):
                    self._hit(target)
            self._wait()
        deadline = time.monotonic() + MAX_RECOVERY_S
        while self._hits:
            assert time.monotonic() < deadline, f"not whole again: {sorted(self._hits)}"
            self._look()
            time.sleep(_LOOK_S)

    def close(self) -> None:
        """Nothing stays frozen."""
        for timer in self._timers:
            timer.cancel()
            timer.function()

    def _chosen(self, count: int) -> list[Target]:
        """So many roles that are whole; fewer where there are not so many."""
        chosen: list[Target] = []
        left = [one for one in self._targets if one.name not in self._hits]
        while left and len(chosen) < count:
            [target] = self._choose.choices(left, [one.weight for one in left])
            left = [one for one in left if one is not target]
            if target.is_whole():
                chosen.append(target)
        return chosen

    def _hit(self, target: Target) -> None:
        processes = list(target.running())
        frozen = self._choose.random() < _FROZEN_PART
        left = self._choose.random() < self._left_frozen_part
        seconds = self._choose.uniform(0.5, 3.0)
        victim = self._choose.choice(processes) if processes else None
        if victim is None:
            return
        with contextlib.suppress(psutil.NoSuchProcess):
            if frozen:
                victim.send_signal(signal.SIGSTOP)
                self.seen.frozen[target.name] += 1
                if not left:
                    self._let_go_later(victim, seconds)
            else:
                victim.kill()
                self.seen.killed[target.name] += 1
            replaced = not frozen or left
            pids = frozenset({victim.pid})
            self._hits[target.name] = _Hit(target, pids, time.monotonic(), replaced)

    def _let_go_later(self, process: psutil.Process, seconds: float) -> None:
        def let_go() -> None:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGCONT)

        timer = threading.Timer(seconds, let_go)
        timer.daemon = True
        timer.start()
        self._timers = [one for one in self._timers if one.is_alive()] + [timer]

    def _wait(self) -> None:
        """Until something was read or has come back, but not for ever: all may be down."""
        began, read, hits = time.monotonic(), len(self._crowd.reads), len(self._hits)
        while time.monotonic() - began < _MAX_STEP_S:
            self._look()
            if len(self._crowd.reads) > read or len(self._hits) < hits:
                return
            time.sleep(_LOOK_S)

    def _look(self) -> None:
        self._mend()
        for name, hit in list(self._hits.items()):
            since = time.monotonic() - hit.at
            assert since < MAX_RECOVERY_S, f"{name} is not whole again after {since:.0f} s"
            if hit.target.is_whole(hit.pids if hit.replaced else frozenset()):
                self.seen.recovery_s[name].append(since)
                del self._hits[name]
