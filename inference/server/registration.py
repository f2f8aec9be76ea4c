"""The engine announces itself: every second a record in Redis, with a lifetime of three.

Gateways read the records (backend/generation/pools/registry.py) and know by them which engines
there are, what each can do and how loaded it is. A record is signed with the key that the engine
asks for, so that who can write to Redis alone cannot bring gateways to send prompts elsewhere.
It is written from the event loop that serves: a server that has frozen announces nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import os
import platform
import shutil
import subprocess
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from inference.config import EngineConfig, RegistrationConfig
from inference.model.files.revision import revision_of
from inference.server.state import ServerState

if TYPE_CHECKING:
    from redis.asyncio import Redis

log = logging.getLogger(__name__)

INDEX = "engines"
"""In Redis: the ids of the engines. The record of one is at `engines:{id}`."""
BEAT_S = 1.0
TTL_MS = 3000
_REDIS_TIMEOUT_S = 1.0
_PURPOSE = b"parley.engine.1\n"


class Capacity(msgspec.Struct, frozen=True):
    """`sequences`: computed at once. A block has `block_size` tokens."""

    sequences: int
    blocks: int
    block_size: int
    max_model_len: int


class PrefixSummary(msgspec.Struct, frozen=True):
    """Of the prefix cache: tokens looked up and found since the core started, and how often a core
    was started, each time with an empty cache."""

    tokens_asked: int
    tokens_hit: int
    restarts: int


class Load(msgspec.Struct, frozen=True):
    running: int
    waiting: int
    free_blocks: int
    step_ms: float
    prefix: PrefixSummary


class Totals(msgspec.Struct, frozen=True):
    """Since this run of the engine announced itself first: seconds, of these in steps, and tokens.
    `input_tokens` holds the cached ones."""

    up_s: float
    busy_s: float
    input_tokens: int
    cached_tokens: int
    output_tokens: int


class Record(msgspec.Struct, frozen=True):
    """What an engine says of itself. `hour_price`: US dollars."""

    id: str
    name: str
    model: str
    revision: str
    url: str
    state: Literal["ready", "draining", "down"]
    hardware: str
    region: str
    hour_price: str
    roles: tuple[str, ...]
    tensor_parallel: int
    pipeline_parallel: int
    adapters: tuple[str, ...]
    capacity: Capacity
    load: Load
    totals: Totals


@dataclass(slots=True)
class Registration:
    """Announces one engine until it is stopped."""

    config: RegistrationConfig
    engine: EngineConfig
    state: ServerState
    key: str

    async def run(self) -> None:
        """Announce every second; Redis may be away at any time."""
        client = _client(self.config.registry)
        engine_id = uuid.uuid4().hex
        started = time.monotonic()
        fixed = await asyncio.to_thread(self._fixed)
        failed = False
        try:
            while True:
                began = time.monotonic()
                try:
                    up_s = began - started
                    await announce(client, self._record(engine_id, fixed, up_s), self.key)
                    failed = False
                except Exception as error:
                    if not failed:
                        log.warning("the engine could not be registered: %s", error)
                    failed = True
                await asyncio.sleep(max(0.05, BEAT_S - (time.monotonic() - began)))
        finally:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(_REDIS_TIMEOUT_S):
                    await client.delete(f"{INDEX}:{engine_id}")
                await client.aclose()

    def _fixed(self) -> dict[str, Any]:
        return {
            "revision": self.config.revision or revision_of(Path(self.engine.model)),
            "hardware": self.config.hardware or hardware(self.engine.device),
        }

    def _record(self, engine_id: str, fixed: dict[str, Any], up_s: float) -> Record:
        state, engine, metrics = self.state, self.state.engine, self.state.metrics
        stats, info = metrics.last, engine.info
        down = "down" if info is None else "ready"
        return Record(
            id=engine_id,
            name=self.config.name or self.config.advertise.partition("://")[2],
            model=state.config.served_model_name,
            url=self.config.advertise,
            state="draining" if state.draining else down,  # type: ignore[arg-type]
            region=self.config.region,
            hour_price=self.config.hour_price,
            roles=self.config.roles,
            tensor_parallel=self.engine.tensor_parallel,
            pipeline_parallel=self.engine.pipeline_parallel,
            adapters=tuple(state.adapters.names),
            capacity=Capacity(
                sequences=state.max_num_seqs,
                blocks=info.num_blocks if info else 0,
                block_size=info.block_size if info else 0,
                max_model_len=info.max_model_len if info else 0,
            ),
            load=Load(
                running=stats.running,
                waiting=stats.waiting,
                free_blocks=(info.num_blocks if info else 0) - stats.blocks_used,
                step_ms=round(metrics.step_s * 1000, 2),
                prefix=PrefixSummary(
                    stats.prefix_tokens_asked, stats.prefix_tokens_hit, engine.restarts
                ),
            ),
            totals=Totals(
                up_s=round(up_s, 3),
                busy_s=round(metrics.busy_s, 3),
                input_tokens=metrics.input_tokens,
                cached_tokens=metrics.cached_tokens,
                output_tokens=metrics.output_tokens,
            ),
            **fixed,
        )


async def announce(client: Redis, record: Record, key: str) -> None:
    """Write `record`, signed, for the next three seconds."""
    content = msgspec.json.encode(record)
    mac = hmac.digest(key.encode(), _PURPOSE + content, "sha256").hex().encode()
    async with client.pipeline(transaction=False) as pipeline:
        pipeline.set(f"{INDEX}:{record.id}", mac + b"\n" + content, px=TTL_MS)
        pipeline.sadd(INDEX, record.id)
        await pipeline.execute()


def hardware(device: str) -> str:
    """The GPU's name, or the processor's with its number of cores."""
    if device != "cpu" and (query := shutil.which("nvidia-smi")):
        command = [query, "--query-gpu=name", "--format=csv,noheader"]
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            found = subprocess.run(  # noqa: S603
                command, capture_output=True, text=True, timeout=5, check=False
            )
            if names := found.stdout.split("\n")[0].strip():
                return names[:100]
    name = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                name = line.partition(":")[2].strip()
                break
    return f"{name[:80]}, {os.cpu_count()} cores"


def _client(url: str) -> Redis:
    from redis.asyncio import Redis  # an engine that registers nowhere needs no client

    return Redis.from_url(
        url, socket_timeout=_REDIS_TIMEOUT_S, socket_connect_timeout=_REDIS_TIMEOUT_S
    )
