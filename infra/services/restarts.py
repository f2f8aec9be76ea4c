"""When a process that keeps ending may be started again."""

import signal
import time
from dataclasses import dataclass

_FIRST_WAIT_S = 0.5
_STABLE_AFTER_S = 60.0


@dataclass(slots=True)
class Restarts:
    """At once the first time, then after waits that double up to `max_wait_s`; a process that ran
    for a minute counts as well again."""

    max_wait_s: float = 30.0
    _began: float = 0.0
    _ends: int = 0
    _due: float = 0.0

    @property
    def is_due(self) -> bool:
        """Whether the next start may be made now."""
        return time.monotonic() >= self._due

    @property
    def ends(self) -> int:
        """How often it has ended since it last ran for a minute."""
        return self._ends

    def begun(self) -> None:
        """The process has been started."""
        self._began = time.monotonic()

    def ended(self) -> float:
        """The process has ended, or could not be started.

        Returns:
            How many seconds the next start has to wait.
        """
        now = time.monotonic()
        if now - self._began > _STABLE_AFTER_S:
            self._ends = 0
        wait = min(self.max_wait_s, _FIRST_WAIT_S * 2.0 ** (self._ends - 1)) if self._ends else 0.0
        self._ends += 1
        self._due = now + wait
        return wait


def how_it_ended(code: int) -> str:
    """An exit code of `subprocess`, in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:  # a real-time signal has no name
        return f"signal {-code}"
