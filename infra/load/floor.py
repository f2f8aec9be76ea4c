"""`python -m infra.load.floor`: the least that an admission costs on this stack.

A bare uvicorn answers requests for a chat with three events, and does one thing more from row to
row: it knows the key and reads the body, runs one script in Redis, stores one row in PostgreSQL,
checks the prompt. No Django, no queue, no budget, no stream buffer, no upstream. What
`make bench-gateway` prints as admissions a second and core is to be held against the last rows.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import orjson
import psutil
import psycopg
import uvicorn
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from backend.generation.pools.http import Origin
from infra.load.costs.ready import until_ready
from infra.load.stand_ins import prepare
from infra.load.upstream import question
from infra.services.bundle import ServiceBundle
from infra.services.ports import free_port
from infra.services.process import end_tree

_ROWS = {
    "bare": "uvicorn, an answer of three events",
    "key": "and the key's hash, and the body as JSON",
    "redis": "and a script in Redis, many requests a round trip",
    "thread": "and a row in PostgreSQL, from a thread",
    "loop": "the same row from the event loop, without a thread",
    "both": "two rows from a thread, one after the other: a generation's begin and its end",
    "together": "the same two, each in one statement with all that wait",
    "check": "and the check of the prompt, in another thread",
}
_KEY = "sk-parley-floor"
_SCRIPT = """
local taken = redis.call('INCR', KEYS[1])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return taken
"""
_TABLE = "CREATE TABLE floor (id uuid PRIMARY KEY, prompt text, state text)"
_INSERT = "INSERT INTO floor (id, prompt, state) VALUES ($1, $2, 'queued')"
_EVENTS = b"".join(b'id: %d\ndata: {"choices":[]}\n\n' % number for number in (1, 2, 3))
_SETTLED = 200

_Step = Callable[[str], Awaitable[None]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--requests", type=int, default=2_000)
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--rows", choices=_ROWS, nargs="+", default=[*_ROWS], help="which of them")
    parser.add_argument("--serve", choices=_ROWS, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        _serve(options.serve, options.port)
        return
    print("| what a request does | CPU, µs | a second and core |\n|--|--:|--:|")
    with tempfile.TemporaryDirectory(prefix="parley-load-") as name:
        directory = Path(name)
        directory.chmod(0o711)  # the database's account must be able to pass
        services = ServiceBundle(directory, {"KAFKA_BOOTSTRAP_SERVERS": "none"}, throw_away=True)
        environment = {**os.environ, **services.start()}
        try:
            with psycopg.connect(environment["DATABASE_URL"]) as connection:
                connection.execute(_TABLE)
            for row in options.rows:
                took = _measured(row, environment, options.requests, options.at_once)
                print(f"| {_ROWS[row]} | {took * 1e6:.0f} | {1 / took:.0f} |", flush=True)
        finally:
            services.destroy()


def _measured(row: str, environment: dict[str, str], requests: int, at_once: int) -> float:
    """CPU seconds of the server for a request."""
    port = free_port()
    command = [sys.executable, "-m", "infra.load.floor", "--serve", row, "--port", str(port)]
    server = subprocess.Popen(command, env=environment)
    try:
        return asyncio.run(_ask(server.pid, f"http://127.0.0.1:{port}", requests, at_once))
    finally:
        end_tree(server.pid)
        server.wait()


async def _ask(pid: int, url: str, requests: int, at_once: int) -> float:
    await until_ready(url)
    await _send(url, _SETTLED, at_once)  # imports, connections, the check's weights
    process = psutil.Process(pid)
    before = process.cpu_times()
    await _send(url, requests, at_once)
    after = process.cpu_times()
    return float(after.user + after.system - before.user - before.system) / requests


async def _send(url: str, requests: int, at_once: int) -> None:
    origin = Origin(url)
    headers = {"authorization": f"Bearer {_KEY}", "content-type": "application/json"}
    left = iter(range(requests))

    async def client() -> None:
        for number in left:
            message = {"role": "user", "content": question(number)}
            body = orjson.dumps({"model": "synthetic", "messages": [message], "stream": True})
            response = await origin.request("POST", "/", headers=headers, body=body)
            if response.status != 200 or not (await response.read()).endswith(b"[DONE]\n\n"):
                raise RuntimeError(f"the server answered {response.status}")

    await asyncio.gather(*(client() for _ in range(at_once)))
    origin.close()


def _serve(row: str, port: int) -> None:
    config = uvicorn.Config(_Application(row), port=port, log_level="warning", access_log=False)
    uvicorn.Server(config).run()


class _Application:
    """The server of one row."""

    def __init__(self, row: str) -> None:
        self._row = row
        self._known = {sha256(_KEY.encode()).hexdigest()}
        self._steps: list[_Step] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await receive()
            self._steps = await _steps(self._row)
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        body = (await receive()).get("body", b"")
        if body and self._row != "bare":
            self._require_key(scope)
            prompt = orjson.loads(body)["messages"][-1]["content"]
            for step in self._steps:
                await step(prompt)
        await _answer(send)

    def _require_key(self, scope: MutableMapping[str, Any]) -> None:
        shown = dict(scope["headers"])[b"authorization"].removeprefix(b"Bearer ")
        if sha256(shown).hexdigest() not in self._known:
            raise PermissionError("another key")


async def _answer(send: Any) -> None:
    headers = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": _EVENTS, "more_body": True})
    await send({"type": "http.response.body", "body": b"data: [DONE]\n\n"})


async def _steps(row: str) -> list[_Step]:
    """What the server of `row` does for a request beside reading it."""
    if row in ("bare", "key"):
        return []
    steps = [_redis_step()]
    if row == "loop":
        steps.append(await _loop_step())
    if row == "check":
        steps.append(_check_step())
    if row in ("thread", "both", "check"):
        steps.append(_thread_step())
    if row == "together":
        steps.append(_together_step())
    return steps + steps[-1:] if row in ("both", "together", "check") else steps


def _redis_step() -> _Step:
    prepare()
    from backend.platform.redis import Profile, new_client
    from backend.platform.redis_batch import Batch

    script = Batch(new_client(Profile())).script(_SCRIPT)

    async def step(prompt: str) -> None:
        await script(keys=[f"floor:{uuid4()}"], args=[60_000])

    return step


def _thread_step() -> _Step:
    url = os.environ["DATABASE_URL"]
    pool = ConnectionPool(url, min_size=8, max_size=8, kwargs={"autocommit": True}, open=True)
    threads = ThreadPoolExecutor(8)

    def insert(prompt: str) -> None:
        """As `backend.platform.together` does."""
        connection = pool.getconn()
        try:
            psycopg.RawCursor(connection).execute(_INSERT, [uuid4(), prompt], prepare=True)
        finally:
            pool.putconn(connection)

    async def step(prompt: str) -> None:
        await asyncio.get_running_loop().run_in_executor(threads, insert, prompt)

    return step


def _together_step() -> _Step:
    """What is asked for while a statement is under way goes into the next one."""
    url = os.environ["DATABASE_URL"]
    pool = ConnectionPool(url, min_size=8, max_size=8, kwargs={"autocommit": True}, open=True)
    threads = ThreadPoolExecutor(8)
    waiting: list[tuple[str, asyncio.Future[None]]] = []
    under_way: set[asyncio.Future[None]] = set()

    def insert(prompts: list[str]) -> None:
        marks = ", ".join(f"(${2 * n + 1}, ${2 * n + 2}, 'queued')" for n in range(len(prompts)))
        values = [value for prompt in prompts for value in (uuid4(), prompt)]
        connection = pool.getconn()
        try:
            sql = f"INSERT INTO floor (id, prompt, state) VALUES {marks}"  # noqa: S608  # numbers
            psycopg.RawCursor(connection).execute(sql, values, prepare=True)
        finally:
            pool.putconn(connection)

    def send() -> None:
        if under_way or not waiting:
            return
        asked = waiting.copy()
        waiting.clear()
        prompts = [prompt for prompt, _ in asked]
        sent = asyncio.get_running_loop().run_in_executor(threads, insert, prompts)
        under_way.add(sent)

        def done(_: object) -> None:
            under_way.discard(sent)
            for _, answer in asked:
                answer.set_result(None)
            send()

        sent.add_done_callback(done)

    async def step(prompt: str) -> None:
        answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting.append((prompt, answer))
        send()
        await answer

    return step


async def _loop_step() -> _Step:
    url = os.environ["DATABASE_URL"]
    pool = AsyncConnectionPool(url, min_size=8, max_size=8, kwargs={"autocommit": True}, open=False)
    await pool.open(wait=True)

    async def step(prompt: str) -> None:
        async with pool.connection() as connection:
            cursor = psycopg.AsyncRawCursor(connection)
            await cursor.execute(_INSERT, [uuid4(), prompt], prepare=True)

    return step


def _check_step() -> _Step:
    from safety.checks import PreClassifier
    from safety.judge.policy import DEFAULT_POLICY
    from safety.types import SafetyMessage

    classifier, threads = PreClassifier(), ThreadPoolExecutor(8)

    async def step(prompt: str) -> None:
        asked = [SafetyMessage("user", prompt)]
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(threads, classifier.check, asked, DEFAULT_POLICY)

    return step


if __name__ == "__main__":
    main()
