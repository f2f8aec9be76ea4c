"""Web processes tell each other which prompt they have sent where.

A conversation's next turn may reach another process, which shall find the replica that has its
prompt cached. What is told is 8 bytes for each 256 of the prompt, once a generation, by Redis'
channels; what is lost costs a prefill.
"""

import asyncio
from collections import deque
from collections.abc import Callable

import msgspec
import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from backend.generation.pools.prefixes import Prefix

log = structlog.get_logger(__name__)

CHANNEL = "pools:placements"
_SEND_INTERVAL_S = 0.1
_MAX_UNSENT = 4_096
_RETRY_S = 1.0
_SENT_BLOCKS = 256
"""Of a longer prompt: its last ones would be missed first, and cost the least."""


class Placement(msgspec.Struct, frozen=True, array_like=True):
    """A prompt of one pool was sent to a replica."""

    pool: str
    replica: str
    root: bytes
    blocks: bytes


class _Message(msgspec.Struct, frozen=True, array_like=True):
    sender: str
    placements: list[Placement]


_DECODER = msgspec.msgpack.Decoder(_Message)


class Placements:
    """What this process tells and hears.

    Args:
        on_placement: called with each placement of another process.
    """

    def __init__(
        self, client: Redis, process_id: str, on_placement: Callable[[str, str, Prefix], None]
    ) -> None:
        self._client = client
        self._process_id = process_id
        self._on_placement = on_placement
        self._unsent: deque[Placement] = deque(maxlen=_MAX_UNSENT)
        self._published = asyncio.Event()

    def publish(self, pool: str, replica: str, prefix: Prefix) -> None:
        """Other processes shall know; sent soon."""
        blocks = b"".join(prefix.blocks[:_SENT_BLOCKS])
        self._unsent.append(Placement(pool, replica, prefix.root, blocks))
        self._published.set()

    async def send(self) -> None:
        """The loop that tells; runs until it is cancelled."""
        while True:
            await self._published.wait()
            await asyncio.sleep(_SEND_INTERVAL_S)
            self._published.clear()
            message = _Message(self._process_id, list(self._unsent))
            self._unsent.clear()
            try:
                await self._client.publish(CHANNEL, msgspec.msgpack.encode(message))
            except (RedisError, OSError) as error:
                log.warning("placements_not_published", error=str(error))

    async def listen(self) -> None:
        """The loop that hears; runs until it is cancelled."""
        while True:
            try:
                async with self._client.pubsub() as heard:
                    await heard.subscribe(CHANNEL)
                    while True:
                        message = await heard.get_message(
                            ignore_subscribe_messages=True, timeout=None
                        )
                        if message is not None:
                            self._take(message["data"])
            except (RedisError, OSError) as error:
                log.warning("placements_not_heard", error=str(error))
                await asyncio.sleep(_RETRY_S)

    def _take(self, data: bytes) -> None:
        try:
            message = _DECODER.decode(data)
        except msgspec.DecodeError:
            return
        if message.sender == self._process_id:
            return
        for one in message.placements:
            blocks = tuple(one.blocks[at : at + 8] for at in range(0, len(one.blocks), 8))
            self._on_placement(one.pool, one.replica, Prefix(one.root, blocks))
