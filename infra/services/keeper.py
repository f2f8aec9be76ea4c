"""Brings embedded services back: one that has ended, and one that says nothing any more.

A service comes back on its port with its data, so that its clients keep their URLs. Starts are made
in the thread that calls `tend()`, because servers end with the thread that started them.
"""

import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from infra.services.errors import ServiceError
from infra.services.liveness import MAX_SILENCES, LivenessWatch
from infra.services.process import Service
from infra.services.restarts import Restarts, how_it_ended

# A start costs little, and while one is away the whole product is.
_MAX_WAIT_S = 4.0


@dataclass(slots=True)
class _Kept:
    service: Service
    restarts: Restarts = field(default_factory=lambda: Restarts(_MAX_WAIT_S))
    is_down: bool = False


class ServiceKeeper:
    """Looks after services that have been started.

    Args:
        log: gets what happened, as (name of the service, one line).
    """

    def __init__(self, services: Sequence[Service], log: Callable[[str, str], None]) -> None:
        self._kept = [_Kept(service) for service in services]
        self._watch = LivenessWatch(services)
        self._log = log
        self._watch.start()

    def tend(self) -> None:
        """Look after all of them once; never waits for a server."""
        for kept in self._kept:
            if kept.is_down:
                if kept.restarts.is_due:
                    self._start(kept)
            elif (code := kept.service.exit_code) is not None:
                # A process killed from outside has written nothing about it.
                words = "" if code == -signal.SIGKILL else kept.service.last_words
                self._has_ended(kept, f"ended ({how_it_ended(code)})", words)
            elif self._watch.is_silent(kept.service):
                kept.service.kill()
                self._has_ended(kept, f"killed: it was asked {MAX_SILENCES} times and said nothing")

    def stop(self) -> None:
        """Look no further. The services are left as they are."""
        self._watch.stop()
        self._kept.clear()

    def _start(self, kept: _Kept) -> None:
        kept.restarts.begun()
        try:
            pid = kept.service.start_again()
        except (ServiceError, OSError) as error:
            self._has_ended(kept, f"could not be started: {error}")
            return
        kept.is_down = False
        self._log(kept.service.name, f"started again as process {pid}")

    def _has_ended(self, kept: _Kept, how: str, words: str = "") -> None:
        kept.is_down = True
        wait = kept.restarts.ended()
        then = f"starting it again in {wait:g} s" if wait else "starting it again"
        reason = f"; its last words: {words}" if words else ""
        self._log(kept.service.name, f"{how}; {then}{reason}")
