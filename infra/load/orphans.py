"""`python -m infra.load.orphans`: how soon the answers of a web process that died are taken up.

A thousand answers run in one web process, which is killed. Two others look for leases that have
lapsed. Printed is how long after that each of the answers had a process again, and what the two
spent on it.
"""

import argparse
import asyncio
import os
import signal
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import orjson
import psutil
import psycopg

from backend.generation.pools.http import Origin
from infra.load.stack import MODEL, Stack

_TOKENS_PER_S = 0.2
_AT_ONCE = 64
_LEASE_S = 6.0
_GIVE_UP_S = 120.0
_TAKEN_UP = "SELECT count(*) FROM generation_generation WHERE epoch > 1"
_RUNNING = "SELECT count(*) FROM generation_generation WHERE state = 'running'"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--answers", type=int, default=1_000)
    parser.add_argument("--survivors", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="parley-load-") as name:
        directory = Path(name)
        directory.chmod(0o711)  # the database's account must be able to pass
        settings = {"PARLEY_GENERATION_LEASE_S": str(_LEASE_S)}
        with Stack(directory, rate=_TOKENS_PER_S, settings=settings) as stack:
            asyncio.run(_measure(stack, options.answers, options.survivors))


async def _measure(stack: Stack, answers: int, survivors: int) -> None:
    reading = await _begin(stack, answers)
    with psycopg.connect(stack.database_url, autocommit=True) as database:
        await _until(database, _RUNNING, answers)
        others = [psutil.Process(stack.another_web_process()) for _ in range(survivors)]
        before = sum(_cpu_s(process) for process in others)
        os.kill(stack.web_pid, signal.SIGKILL)
        # The last renewal may be a third of the lease old when its process dies.
        lapsed = time.monotonic() + _LEASE_S
        arrived: list[float] = []
        while len(arrived) < answers:
            count = _count(database, _TAKEN_UP)
            arrived += [time.monotonic() - lapsed] * (count - len(arrived))
            if time.monotonic() - lapsed > _GIVE_UP_S:
                break
            await asyncio.sleep(0.1)
        spent = sum(_cpu_s(process) for process in others) - before
    for task in reading:
        task.cancel()
    await asyncio.gather(*reading, return_exceptions=True)
    print(f"{len(arrived)} of {answers} answers were taken up by {survivors} web processes;")
    if not arrived:
        return
    half = arrived[len(arrived) // 2]
    print(f"half of them {half:+.1f} s after the last lease had surely lapsed, the last")
    print(f"{arrived[-1]:+.1f} s; {1000 * spent / answers:.1f} ms of CPU each, with their tokens")


async def _begin(stack: Stack, answers: int) -> list[asyncio.Task[None]]:
    """So many streams, each with a reader."""
    headers = {"authorization": f"Bearer {stack.key}", "content-type": "application/json"}
    body = orjson.dumps(
        {
            "model": MODEL,
            "messages": [{"role": "user", "content": "Count, please."}],
            "max_tokens": 200,
            "stream": True,
        }
    )
    places = asyncio.Semaphore(_AT_ONCE)
    begun: list[bool] = []

    async def read() -> None:
        origin = Origin(stack.web_url)
        try:
            async with places:
                response = await origin.request(
                    "POST", "/v1/chat/completions", headers=headers, body=body
                )
                if response.status != 200:
                    raise RuntimeError(f"{response.status}: {await response.read()!r}")
                begun.append(True)
            with suppress(OSError):
                while await response.read_some():
                    pass
        finally:
            origin.close()

    reading = [asyncio.create_task(read()) for _ in range(answers)]
    while len(begun) < answers:
        for task in reading:
            if task.done():
                task.result()
        await asyncio.sleep(0.2)
    return reading


async def _until(database: psycopg.Connection, query: str, wanted: int) -> None:
    while _count(database, query) < wanted:  # noqa: ASYNC110 - it is another process' doing
        await asyncio.sleep(0.2)


def _count(database: psycopg.Connection, query: str) -> int:
    row = database.execute(query.encode()).fetchone()
    assert row is not None
    return int(row[0])


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


if __name__ == "__main__":
    main()
