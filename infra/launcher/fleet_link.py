"""What the launcher tells the web processes of its models, and hears from them: through Redis, from
a thread of its own, since Redis may be away and the launcher must not wait for it."""

import contextlib
import threading
from collections.abc import Mapping
from typing import Protocol, cast

import msgspec
import redis

from backend.platform.machine_models import ASKED_KEY, STATUS_KEPT_S, STATUS_KEY, MachineModel

_INTERVAL_SECONDS = 0.5


class Models(Protocol):
    """The fleet, as far as it is told of."""

    def statuses(self) -> list[MachineModel]: ...

    def asked(self, times: Mapping[str, float]) -> None: ...


class FleetLink:
    """Publishes and reads twice a second until it is stopped."""

    def __init__(self, fleet: Models, redis_url: str) -> None:
        self._fleet = fleet
        self._url = redis_url
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Say nothing more; what was said is forgotten after some seconds."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(_INTERVAL_SECONDS):
            with (
                contextlib.suppress(redis.RedisError, OSError),
                redis.Redis.from_url(
                    self._url, socket_timeout=2, socket_connect_timeout=2
                ) as client,
            ):
                while not self._stopped.wait(_INTERVAL_SECONDS):
                    self._exchange(client)

    def _exchange(self, client: redis.Redis) -> None:
        statuses = msgspec.json.encode(self._fleet.statuses())
        client.set(STATUS_KEY, statuses, ex=STATUS_KEPT_S)
        asked = cast(dict[bytes, bytes], client.hgetall(ASKED_KEY))
        times = {}
        for name, at in asked.items():
            with contextlib.suppress(ValueError):
                times[name.decode(errors="replace")] = float(at)
        self._fleet.asked(times)
