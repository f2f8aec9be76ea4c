"""`python -m inference …` in a process that the tests' fork server has forked, and its core forked
from it: `python -m tests.inference.forked_engine serve …`.

What both import, torch first of all, has been imported before the fork
(`tests/support/forkserver.py`). The core is this process's child, as it always is, with nothing of
its parent's but that. Cores that are started as users' are: `test_loading.py`, `test_torchrun.py`.
"""

from __future__ import annotations

import asyncio
import os
import runpy
import signal
import sys
import threading
import traceback
from contextlib import suppress
from typing import BinaryIO, NoReturn

from inference import cli

_start_program = asyncio.create_subprocess_exec


class ForkedCore:
    """With those parts of `asyncio.subprocess.Process` that a server asks its core for."""

    def __init__(self, pid: int, stdin: BinaryIO) -> None:
        self.pid = pid
        self.stdin = stdin
        self._ended = asyncio.get_running_loop().create_future()
        threading.Thread(target=self._wait, args=(self._ended.get_loop(),), daemon=True).start()

    @property
    def returncode(self) -> int | None:
        return self._ended.result() if self._ended.done() else None

    async def wait(self) -> int:
        return await asyncio.shield(self._ended)

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def _wait(self, loop: asyncio.AbstractEventLoop) -> None:
        _, status = os.waitpid(self.pid, 0)
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(self._ended.set_result, os.waitstatus_to_exitcode(status))


async def _start(*command: str, **options):
    """In place of `asyncio.create_subprocess_exec`."""
    if command != cli.CORE_COMMAND:
        return await _start_program(*command, **options)
    its, ours = os.pipe()
    if (pid := os.fork()) == 0:
        _be_core(its, options["env"])
    os.close(its)
    return ForkedCore(pid, os.fdopen(ours, "wb"))


def _be_core(stdin: int, environment: dict[str, str]) -> NoReturn:
    """Never returns to what the server was doing."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(stdin, 0)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        sys.stdin = os.fdopen(0, closefd=False)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = [cli.CORE_COMMAND[-1]]
        runpy.run_module(cli.CORE_COMMAND[-1], run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:  # whatever it is, it may not go on as the server
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    setattr(asyncio, "create_subprocess_exec", _start)  # noqa: B010 - it has fewer parameters
    sys.exit(cli.main())
