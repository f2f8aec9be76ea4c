"""Sees from the server's side that a core no longer moves, so that it is killed and replaced.

A core that loads its model says nothing: whether it runs at all is seen from outside. One that is
ready sends beats.
"""

from __future__ import annotations

import asyncio
import time

from inference.engine.activity import FamilyActivity, ProcessorShare
from inference.engine.progress import BEAT_S
from inference.protocol import CoreBeat

MAX_SILENCE_S = 4.0
_LATE_S = 2 * BEAT_S


class Watchdog:
    """Silence counts only while this process itself was not held up: a machine that slept, or a
    server that was frozen with its core, says nothing about the core. Nor does it where the core
    waits for a processor: killed and started again, it would wait for one again."""

    def __init__(self, pid: int) -> None:
        self._share = ProcessorShare(pid)
        self._silent_s = 0.0
        self._stuck_s = 0.0

    def message(self) -> None:
        """Something came from the core."""
        self._silent_s = 0.0

    def beat(self, beat: CoreBeat) -> None:
        self._silent_s = 0.0
        self._stuck_s = beat.step_s if beat.step_s > beat.allowed_s else 0.0

    async def stalled(self) -> str:
        """Return when the core has stalled, with what was seen of it."""
        before = time.monotonic()
        while True:
            await asyncio.sleep(BEAT_S)
            now = time.monotonic()
            if not self._share.is_starved():
                self._silent_s += min(now - before, _LATE_S)
            before = now
            if self._stuck_s:
                return f"the engine core has computed one step for {self._stuck_s:.0f} s"
            if self._silent_s > MAX_SILENCE_S:
                return f"the engine core has given no sign of life for {self._silent_s:.0f} s"


async def frozen_loading(pid: int, max_silence_s: float, ready: asyncio.Event) -> str:
    """Watch process `pid` load its model until it is `ready`.

    Returns:
        "" then, or before that what was seen of it once neither it nor anything that it has started
        has run for `max_silence_s`. As in `Watchdog`, time counts only while this process was not
        held up itself.
    """
    family, silent_s = FamilyActivity(pid), 0.0
    before = time.monotonic()
    while not ready.is_set():
        await asyncio.sleep(BEAT_S)
        now = time.monotonic()
        silent_s = 0.0 if family.has_moved() else silent_s + min(now - before, _LATE_S)
        before = now
        if silent_s > max_silence_s:
            return f"the engine core froze while it loaded: it has not run for {silent_s:.0f} s"
    return ""
