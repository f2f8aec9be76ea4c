"""Keeps the loops of a web process running: an exception that a loop did not expect costs a
pause and an alert, never the loop."""

import asyncio
import time
from collections.abc import Awaitable, Callable

import structlog

from backend.generation import metrics

log = structlog.get_logger(__name__)

_PAUSE_S = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
# A loop that ran for so long before it failed has its failures forgotten.
_HEALTHY_S = 60.0


async def supervised(name: str, loop: Callable[[], Awaitable[None]]) -> None:
    """Run `loop`, and start it again whenever it fails, after a pause that grows to 5 s.

    Ends when `loop` returns (the process drains), or when this task is cancelled. What else
    leaves `loop` is logged as `loop_failed` and counted in `parley_loop_failures_total`.

    Args:
        name: for the log and the metric.
        loop: started again from its beginning, so it keeps in its object what has to last.
    """
    metrics.LOOP_FAILURES.labels(name)  # there from the start, so that its rate has a zero
    failures = 0
    while True:
        started = time.monotonic()
        try:
            return await loop()
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # This task was not cancelled: it leaked from something that the loop awaited.
            failure: BaseException = error
        except Exception as error:
            failure = error
        failures = 1 if time.monotonic() - started > _HEALTHY_S else failures + 1
        metrics.LOOP_FAILURES.labels(name).inc()
        log.error("loop_failed", loop=name, failures=failures, exc_info=failure)
        await asyncio.sleep(_PAUSE_S[min(failures, len(_PAUSE_S)) - 1])
