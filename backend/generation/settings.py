"""The gateway's settings, from Django's, in the units that it works in."""

import os
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """
    Attributes:
        lease_s: how long a silent process keeps its generations.
        grace_s: how long a generation of the page runs without a reader.
        drain_s: how long SIGTERM waits for generations to end before they are handed over; less
            than the server waits for open responses, so that readers hear of the handover.
        reap_after_s: a generation that Redis does not know is settled after this age.
        engine_key: what engines ask for, and sign their records with.
        engine_tls: whether engines that announce themselves must serve https, unless on loopback.
        shared_queue: whether a pool has one queue for all web processes, or each process its own.
        engine_ca_file: certificates to trust beside the system's; "" for none.
    """

    timeout_s: float
    lease_s: float
    buffer_ttl_s: int
    grace_s: float
    max_queued: int
    drain_s: float
    reap_after_s: float
    engine_key: str = ""
    engine_tls: bool = False
    engine_ca_file: str = ""
    shared_queue: bool = False

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
            reap_after_s=max(3.0, lease_s / 2),
            engine_key=settings.ENGINE_API_KEY,
            engine_tls=settings.ENGINE_TLS_REQUIRED,
            engine_ca_file=settings.ENGINE_CA_FILE,
            shared_queue=settings.SHARED_QUEUE,
        )

    def may_register(self, url: str) -> bool:
        """Whether an engine at this address may be sent prompts."""
        parts = urlsplit(url)
        return parts.scheme == "https" or not self.engine_tls or parts.hostname in _LOOPBACK

    @property
    def request_ttl_ms(self) -> int:
        """Longer than a generation can last: until then it can be claimed."""
        return int((self.timeout_s + self.buffer_ttl_s) * 1000)
