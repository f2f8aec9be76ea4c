"""`python -m infra.load.calls`: how many functions an admission calls in the web process.

Milliseconds of CPU differ by a fifth from one minute to the next on a machine that others use too;
how often functions are called does not. A profiler in every thread counts while one client asks for
answers of one token, 16 at once. What the process does anyway is counted for some seconds before,
and taken off. A coroutine counts each time that it goes on.

    python -m infra.load.calls --top 40        # and which functions those are
"""

import argparse
import asyncio
import json
import os
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import redis

from infra.load.gateway import ask_for_one_token
from infra.load.stack import Stack

_WARMED_UP = 60
_IDLE_S = 8.0
_SETTLED_S = 1.0
_Counts = dict[str, Counter[str]]
"""By kind of thread: how often each function was called."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--requests", type=int, default=320)
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--top", type=int, default=0, help="functions of each kind of thread")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="parley-load-") as name:
        directory = Path(name)
        directory.chmod(0o711)  # the database's account must be able to pass
        found = directory / "calls.json"
        server = f"python -m infra.load.calls serve {found}"
        with Stack(directory, rate=30.0, settings={}, server=server) as stack:
            asyncio.run(_measure(stack, found, arguments))


async def _measure(stack: Stack, found: Path, arguments: argparse.Namespace) -> None:
    await ask_for_one_token(stack, _WARMED_UP, at_once=arguments.at_once)
    await asyncio.sleep(_SETTLED_S)
    _counted(stack, found)
    await asyncio.sleep(_IDLE_S)
    idle = _counted(stack, found)
    commands, began = _redis_commands(stack), time.monotonic()
    await ask_for_one_token(stack, arguments.requests, at_once=arguments.at_once)
    await asyncio.sleep(_SETTLED_S)
    took = time.monotonic() - began
    asked = _redis_commands(stack) - commands
    while_asked = _counted(stack, found)
    _print(while_asked, idle, took / _IDLE_S, arguments)
    print(f"{asked / arguments.requests:.1f} commands in Redis, those of scripts and loops too")


def _print(counts: _Counts, idle: _Counts, times: float, arguments: argparse.Namespace) -> None:
    print("| functions called, an admission | in Python | in C |\n|---|--:|--:|")
    whole_python = whole_c = 0.0
    for kind in sorted(counts, key=lambda kind: -sum(counts[kind].values())):
        once = {
            name: (called - idle.get(kind, Counter())[name] * times) / arguments.requests
            for name, called in counts[kind].items()
        }
        in_c = sum(called for name, called in once.items() if name.startswith("C "))
        in_python = sum(once.values()) - in_c
        whole_python, whole_c = whole_python + in_python, whole_c + in_c
        print(f"| {kind} | {in_python:,.0f} | {in_c:,.0f} |")
        for name in sorted(once, key=lambda name: -once[name])[: arguments.top]:
            print(f"    {once[name]:8.1f}  {name}")
    print(f"| all | {whole_python:,.0f} | {whole_c:,.0f} |")


def _redis_commands(stack: Stack) -> int:
    client: Any = redis.Redis.from_url(stack.redis_url)
    with client:
        return int(client.info("stats")["total_commands_processed"])


def _counted(stack: Stack, found: Path) -> _Counts:
    """What the web process has counted since it was asked before."""
    found.unlink(missing_ok=True)
    os.kill(stack.web_pid, signal.SIGUSR1)
    while not found.exists():
        time.sleep(0.02)
    return {kind: Counter(counts) for kind, counts in json.loads(found.read_text()).items()}


class _Profilers:
    """Those of all threads of this process."""

    def __init__(self) -> None:
        self._of_threads: list[tuple[str, Counter[Any]]] = []

    def of_threads_to_come(self) -> None:
        threading.setprofile(self._first_event)

    def _first_event(self, frame: FrameType, event: str, argument: Any) -> None:
        sys.setprofile(self.of_this_thread())

    def of_this_thread(self) -> Any:
        counts: Counter[Any] = Counter()
        self._of_threads.append((threading.current_thread().name, counts))

        def count(frame: FrameType, event: str, argument: Any) -> None:
            if event == "call":
                counts[frame.f_code] += 1
            elif event == "c_call":
                counts[getattr(argument, "__qualname__", "") or repr(argument)] += 1

        return count

    def take(self) -> _Counts:
        """What was counted since this was last called."""
        found: _Counts = {}
        for thread, counts in self._of_threads:
            taken = dict(counts)
            counts.clear()
            kind = found.setdefault(thread.rstrip("0123456789-_ ()."), Counter())
            for called, number in taken.items():
                kind[_named(called)] += number
        return found


def _named(called: CodeType | str) -> str:
    if isinstance(called, str):
        return f"C {called}"
    file = "/".join(Path(called.co_filename).parts[-3:])
    return f"{file}:{called.co_firstlineno} {called.co_qualname}"


def _serve(found: Path, arguments: Sequence[str]) -> None:
    """Be the web process, and write what was counted to `found` at each SIGUSR1."""
    import uvicorn

    profilers = _Profilers()
    profilers.of_threads_to_come()

    def write(*_: Any) -> None:
        counting = sys.getprofile()
        sys.setprofile(None)
        beside = found.with_suffix(".part")
        beside.write_text(json.dumps(profilers.take()))
        beside.rename(found)
        sys.setprofile(counting or profilers.of_this_thread())

    signal.signal(signal.SIGUSR1, write)
    uvicorn.main(list(arguments))


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        _serve(Path(sys.argv[2]), sys.argv[3:])
    else:
        main()
