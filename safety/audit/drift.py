"""The alarm when the share of blocked prompts moves: an attack, a bad policy, a broken layer.

A scheduled task compares the last hour with the week before it, in the database, and leaves the
result in the cache, where every web process's `/metrics` finds it.
"""

import structlog
from django.core.cache import cache

from safety.audit.selectors import block_rate_drift

log = structlog.get_logger(__name__)

ALARM_STANDARD_ERRORS = 4.0
"""Once in some 16,000 quiet hours by chance."""

CACHE_KEY = "safety:block-rate-drift"
_CACHE_TTL_S = 3_600


def drift_check() -> float | None:
    """Measure the drift, leave it for `/metrics`, and log a warning where it is an alarm.

    Returns:
        Standard errors, see `block_rate_drift`; None with too few decisions to tell.
    """
    drift = block_rate_drift()
    cache.set(CACHE_KEY, drift, _CACHE_TTL_S)
    if drift is not None and abs(drift) >= ALARM_STANDARD_ERRORS:
        log.warning("safety_block_rate_moved", standard_errors=round(drift, 1))
    return drift
