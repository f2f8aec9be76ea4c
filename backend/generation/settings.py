"""The gateway's settings, from Django's, in the units that it works in."""

import os
from dataclasses import dataclass

from django.conf import settings


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """
    Attributes:
        lease_s: how long a silent process keeps its generations.
        grace_s: how long a generation of the page runs without a reader.
        drain_s: how long SIGTERM waits for generations to end before they are handed over; less
            than the server waits for open responses, so that readers hear of the handover.
        reap_after_s: a generation that Redis does not know is settled after this age.
    """

    timeout_s: float
    lease_s: float
    buffer_ttl_s: int
    grace_s: float
    max_queued: int
    drain_s: float
    reap_after_s: float

    @classmethod
    def from_django(cls) -> "GatewaySettings":
        lease_s = float(settings.GENERATION_LEASE_S)
        return cls(
            timeout_s=float(settings.GENERATION_TIMEOUT_S),
            lease_s=lease_s,
            buffer_ttl_s=int(settings.GENERATION_BUFFER_TTL_S),
            grace_s=float(settings.DISCONNECT_GRACE_S),
            max_queued=int(settings.MAX_QUEUED_GENERATIONS),
            drain_s=float(os.environ.get("PARLEY_DRAIN_S") or 7),
            reap_after_s=max(10.0, 3 * lease_s),
        )

    @property
    def request_ttl_ms(self) -> int:
        """Longer than a generation can last: until then it can be claimed."""
        return int((self.timeout_s + self.buffer_ttl_s) * 1000)
