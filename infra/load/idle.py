"""`python -m infra.load.idle`: what readers cost that wait, of one web process.

Ten thousand readers of an answer that says nothing for a minute, then five thousand of the page's
WebSockets (a hundred users, fifty tabs each). Printed is the memory of the web process for each,
and its CPU while all are open: pings, and nothing else.
"""

import argparse
import asyncio
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

import orjson
import psutil
import websockets

from backend.generation.pools.http import Origin
from infra.load.stack import MODEL, Stack

_AT_ONCE = 64
_TABS = 50
_TOKENS_PER_S = 0.01

_MAKE_SESSIONS = """
import os, sys, django
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backend.settings")
django.setup()
from importlib import import_module
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from backend.accounts.services import user_create
for number in range(int(sys.argv[1])):
    user = user_create(email=f"tab{number}@example.org", password=os.urandom(12).hex(), name="tab")
    session = import_module(settings.SESSION_ENGINE).SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    print(f"{settings.SESSION_COOKIE_NAME}={session.session_key}")
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--readers", type=int, default=10_000)
    parser.add_argument("--sockets", type=int, default=5_000)
    parser.add_argument("--seconds", type=float, default=30.0, help="with all of them open")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="parley-load-") as name:
        directory = Path(name)
        directory.chmod(0o711)  # the database's account must be able to pass
        with Stack(directory, rate=_TOKENS_PER_S, settings={}) as stack:
            print("| open | number | KB each | CPU of the web process |\n|--|--:|--:|--:|")
            asyncio.run(_readers(stack, options.readers, options.seconds))
            cookies = stack.run_python(_MAKE_SESSIONS, str(-(-options.sockets // _TABS))).split()
            asyncio.run(_sockets(stack, cookies, options.sockets, options.seconds))


async def _readers(stack: Stack, wanted: int, seconds: float) -> None:
    authorized = {"authorization": f"Bearer {stack.key}"}
    body = {
        "model": MODEL,
        "messages": [{"role": "user", "content": "Wait, please."}],
        "max_tokens": 8,
        "stream": True,
    }
    first = Origin(stack.web_url)
    headers = {**authorized, "content-type": "application/json"}
    answer = await first.request(
        "POST", "/v1/chat/completions", headers=headers, body=orjson.dumps(body)
    )
    path = f"/api/generations/{answer.headers['x-parley-generation-id']}/events"
    before = _memory(stack)
    places = asyncio.Semaphore(_AT_ONCE)
    origins: list[Origin] = []

    async def read() -> None:
        origin = Origin(stack.web_url)
        async with places:
            response = await origin.request("GET", path, headers=authorized)
            if response.status != 200:
                raise RuntimeError(f"{response.status}: {await response.read()!r}")
            await response.read_some()
        origins.append(origin)
        while await response.read_some():
            pass

    reading = [asyncio.create_task(read()) for _ in range(wanted)]
    while len(origins) < wanted and not any(task.done() for task in reading):  # noqa: ASYNC110
        await asyncio.sleep(0.2)
    await _report(stack, "readers of an answer (SSE)", len(origins), before, seconds)
    for task in reading:
        task.cancel()
    await asyncio.gather(*reading, return_exceptions=True)
    for origin in (*origins, first):
        origin.close()


async def _sockets(stack: Stack, cookies: list[str], wanted: int, seconds: float) -> None:
    before = _memory(stack)
    url = stack.web_url.replace("http://", "ws://") + "/ws/events"
    places = asyncio.Semaphore(_AT_ONCE)
    async with AsyncExitStack() as opened:

        async def connect(cookie: str) -> None:
            async with places:
                socket = websockets.connect(
                    url,
                    additional_headers={"cookie": cookie},
                    origin=websockets.Origin(stack.web_url),
                    open_timeout=120,
                )
                await opened.enter_async_context(socket)

        await asyncio.gather(*(connect(cookies[n // _TABS]) for n in range(wanted)))
        await _report(stack, "WebSockets of the page", wanted, before, seconds)


async def _report(stack: Stack, name: str, number: int, before: int, seconds: float) -> None:
    await asyncio.sleep(2)
    kilobytes = (_memory(stack) - before) / max(1, number) / 1e3
    times = psutil.Process(stack.web_pid).cpu_times()
    began = time.monotonic()
    await asyncio.sleep(seconds)
    now = psutil.Process(stack.web_pid).cpu_times()
    used = (now.user + now.system - times.user - times.system) / (time.monotonic() - began)
    print(f"| {name} | {number:,} | {kilobytes:.0f} | {used:.1%} |", flush=True)


def _memory(stack: Stack) -> int:
    return int(psutil.Process(stack.web_pid).memory_info().rss)


if __name__ == "__main__":
    main()
