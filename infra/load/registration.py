"""`make bench-registration`: how soon a new engine is used, and how soon one that is gone is not.

A web process, Redis, a synthetic engine that stays, and a real one (SmolLM2 135M) that comes and
goes while clients ask without pause. Printed, by the median and the worst of several: how long it
is from an engine's first record in Redis, and from when it was ready, to the first byte of its
first answer; and from its end (SIGKILL, SIGSTOP, `/drain`) to the last request that is sent to it.
"""

import argparse
import asyncio
import os
import secrets
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import httpx
import orjson
import psutil
from redis.asyncio import Redis

from backend.generation.pools.http import Origin
from infra.launcher import procfile
from infra.load.stack import MODEL, Stack, StackError
from infra.load.upstream import question
from infra.load.wire import Wire
from infra.services.bundle import ServiceBundle
from infra.services.ports import free_port
from infra.services.process import end_tree, spawn, tail

_CLIENTS = 6
_PLACES = 4
"""Of each engine: fewer than clients, so that a new one is needed at once."""
_RATE = 100.0
_TOKENS = 8
_READY_S = 120.0
_POLL_S = 0.01
_QUIET_S = 7.0
"""Longer than the goal: a request that comes later would be seen."""
_SERVES_S = 1.5
"""An engine works so long before it is ended."""
_INDEX = "engines"
_WEIGHTS = procfile.ROOT / "var" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
_GOALS = {"first": 2.0, "last": 5.0}


@dataclass(slots=True)
class Clients:
    """Ask through the product, each again as soon as it is answered."""

    stack: Stack
    answers: int = 0
    failed: list[str] = field(default_factory=list)
    _asked: Iterator[int] = field(default_factory=lambda: count(1))

    async def ask_on(self) -> None:
        origin = Origin(self.stack.web_url)
        headers = {
            "authorization": f"Bearer {self.stack.key}",
            "content-type": "application/json",
        }
        while True:
            messages = [{"role": "user", "content": question(next(self._asked))}]
            body = {"model": MODEL, "messages": messages, "max_tokens": _TOKENS}
            response = await origin.request(
                "POST", "/v1/chat/completions", headers=headers, body=orjson.dumps(body)
            )
            text = await response.read()
            if response.status == 200:
                self.answers += 1
            else:
                self.failed.append(f"{response.status} {text[:200]!r}")


class Engine:
    """A real one, behind a wire, that announces itself."""

    def __init__(self, folder: Path, registry: str, key: str) -> None:
        self._folder, self._registry, self._key = folder, registry, key
        self._port = free_port()
        self.wire = Wire(self._port)
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        await self.wire.start()
        weights = os.environ.get("PARLEY_MODEL_FILE", str(_WEIGHTS))
        self._process = spawn(
            [
                *(sys.executable, "-m", "inference", "serve", "--model", weights),
                *("--served-model-name", MODEL, "--port", str(self._port), "--threads", "1"),
                *("--int8-activations", "auto", "--num-blocks", "512"),
            ],
            log=self._folder / f"engine-{self._port}.log",
            environment={
                **os.environ,
                "PARLEY_ENGINE_API_KEY": self._key,
                "PARLEY_ENGINE_REGISTRY": self._registry,
                "PARLEY_ENGINE_ADVERTISE": self.wire.url,
            },
            death_signal=signal.SIGKILL,
            cwd=procfile.ROOT,
        )

    async def ready_at(self) -> float:
        """When it said that it takes work. Raises StackError."""
        ends_at = time.monotonic() + _READY_S
        async with httpx.AsyncClient(timeout=5) as client:
            while time.monotonic() < ends_at and self._is_running():
                try:
                    answer = await client.get(f"http://127.0.0.1:{self._port}/ready")
                    if answer.status_code == 200:
                        return time.monotonic()
                except httpx.HTTPError:
                    pass
                await asyncio.sleep(_POLL_S)
        raise StackError(tail(self._folder / f"engine-{self._port}.log", lines=30))

    def signal(self, number: signal.Signals) -> None:
        """To the server and all that it started."""
        assert self._process is not None
        server = psutil.Process(self._process.pid)
        for one in (server, *server.children(recursive=True)):
            one.send_signal(number)

    async def drain(self) -> None:
        async with httpx.AsyncClient(timeout=30) as client:
            headers = {"authorization": f"Bearer {self._key}"}
            answer = await client.post(f"http://127.0.0.1:{self._port}/drain", headers=headers)
            answer.raise_for_status()

    async def stop(self) -> None:
        if self._process is not None:
            await asyncio.to_thread(end_tree, self._process.pid, stop_signal=signal.SIGKILL)
            self._process.wait()
        await self.wire.stop()

    def _is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--runs", type=int, default=5, help="engines for each way to end")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="parley-load-") as name:
        directory = Path(name)
        directory.chmod(0o711)  # the database's account must be able to pass
        services = ServiceBundle(directory / "services", {}, throw_away=True)
        key = secrets.token_hex(16)
        settings = {"PARLEY_ENGINE_API_KEY": key}
        with Stack(
            directory,
            rate=_RATE,
            settings=settings,
            services=services,
            max_concurrency=_PLACES,
        ) as stack:
            redis = services.service("REDIS_URL")
            assert redis is not None
            asyncio.run(_measure(stack, directory, redis.url, key, options.runs))


async def _measure(stack: Stack, folder: Path, registry: str, key: str, runs: int) -> None:
    clients = Clients(stack)
    asking = [asyncio.create_task(clients.ask_on()) for _ in range(_CLIENTS)]
    seconds: defaultdict[str, list[float]] = defaultdict(list)
    try:
        for _ in range(runs):
            for end in ("SIGKILL", "SIGSTOP", "drain"):
                engine = Engine(folder, registry, key)
                try:
                    for name, value in (await _one_life(engine, registry, end)).items():
                        seconds[name].append(value)
                finally:
                    await engine.stop()
                for task in asking:
                    if task.done():
                        task.result()
    finally:
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
    _print(seconds, clients)


async def _one_life(engine: Engine, registry: str, end: str) -> dict[str, float]:
    """Start it, let it serve, end it; seconds by what is measured."""
    async with Redis.from_url(registry) as redis:
        known = await redis.smembers(_INDEX)
        announcing = asyncio.create_task(_announced_at(redis, known))
        await engine.start()
        ready_at, announced_at = await asyncio.gather(engine.ready_at(), announcing)
    ends_at = time.monotonic() + _READY_S
    while not engine.wire.answered:
        if time.monotonic() > ends_at:
            raise StackError("the engine was ready and was asked for nothing")
        await asyncio.sleep(_POLL_S)
    first = engine.wire.answered[0]
    await asyncio.sleep(_SERVES_S)
    ended_at = time.monotonic()
    if end == "drain":
        await engine.drain()
    else:
        engine.signal(signal.Signals[end])
    await asyncio.sleep(_QUIET_S)
    last = max(engine.wire.asked[-1] - ended_at, 0.0)
    return {
        "first record to first answer": first - announced_at,
        "ready to first answer": first - ready_at,
        f"{end} to last request": last,
    }


async def _announced_at(redis: Redis, known: set[bytes | str]) -> float:
    while not await redis.smembers(_INDEX) - known:  # noqa: ASYNC110 - it is another process' doing
        await asyncio.sleep(_POLL_S)
    return time.monotonic()


def _print(seconds: dict[str, list[float]], clients: Clients) -> None:
    for name, values in seconds.items():
        goal = _GOALS["first" if "answer" in name else "last"]
        print(
            f"{name:<30} median {statistics.median(values):5.2f} s, worst {max(values):5.2f} s"
            f" of {len(values)} (goal {goal:g} s)"
        )
    print(f"{clients.answers} answers meanwhile, {len(clients.failed)} failed {clients.failed[:3]}")


if __name__ == "__main__":
    main()
