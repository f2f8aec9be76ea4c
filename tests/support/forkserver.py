"""Starts processes of the product by forking one that has imported their libraries.

Of a process's start most is the import of Django, Celery, pydantic and the like: a second of
processor time, in each of the hundred processes that a run of the tests starts. Here it is spent
once. Nothing of our own code and no setting is read before the fork; command, environment, folder,
output and signals are those of an ordinary start, and each is a process of its own that can be
killed alone. What `make run` starts is tested without it too (tests/e2e/test_better_model.py).

The server runs as `python -m tests.support.forkserver FD product`, and ends with the tests. One of
its own, `engine`, has what an engine imports, whose torch is 1.7 seconds of each start.

What starts many processes of one environment has an `Origin` of it: forked from the server, it has
read the settings and imported our code, another second of each web process, and serves as it does.
"""

import contextlib
import functools
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import BinaryIO, Literal

from infra.launcher.procfile import ROOT
from infra.services.process import die_with_parent

# None of them reads its configuration when it is imported (prometheus_client does) or starts a
# thread that the fork would lose (onnxruntime does).
_PRODUCT = (
    *("django.core.asgi", "django.core.management.commands.migrate", "django.contrib.postgres"),
    *("django.db.backends.postgresql.base", "django.db.models", "django.contrib.admin.options"),
    *(
        "django.test.client",
        "django.views.csrf",
        "django.middleware.csrf",
        "django.template.engine",
    ),
    *("django.contrib.staticfiles.storage", "django.contrib.sessions.backends.cached_db"),
    *("celery.bin.celery", "celery.app.trace", "celery.worker.worker", "celery.apps.worker"),
    *("celery.apps.beat", "celery.concurrency.thread", "celery.backends.redis"),
    *("kombu.transport.redis", "channels.routing", "channels_redis.core", "channels.auth"),
    *("uvicorn.main", "uvicorn.lifespan.on", "uvicorn.protocols.http.httptools_impl"),
    *("uvicorn.protocols.websockets.websockets_impl", "uvicorn.loops.uvloop"),
    *("psycopg_pool", "redis.asyncio", "valkey", "pydantic", "msgspec", "orjson", "httpx"),
    *(
        "structlog",
        "rich.traceback",
        "numpy",
        "jinja2",
        "yaml",
        "argon2",
        "fido2.server",
    ),
    *("reportlab.platypus", "PIL.Image", "kafka", "servestatic", "brotli", "lxml.etree"),
    *("dns.resolver", "onelogin.saml2.auth", "jwt", "annotated_types"),
    *("mcp", "mcp.client.streamable_http", "mcp_types", "httpx2", "opentelemetry.sdk.trace"),
)
_ENGINE = (
    *("torch", "torch.distributed", "numpy", "gguf", "safetensors.torch", "psutil", "msgspec"),
    *(
        "zmq.asyncio",
        "tokenizers",
        "jinja2.sandbox",
        "llguidance",
        "PIL.Image",
        "cryptography.x509",
    ),
    *("uvicorn.main", "uvicorn.lifespan.on", "uvicorn.protocols.http.h11_impl"),
    "uvicorn.loops.uvloop",
)
_LIBRARIES = {"product": _PRODUCT, "engine": _ENGINE}
Kind = Literal["product", "engine"]
# In place of a program: the fork is an origin, and imports what follows.
_ORIGIN = "origin"
# A library that asks for Django's settings fails in the server: its environment names none.
_KEPT = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
# OpenBLAS would start threads when numpy is imported; OpenMP asks once how long to spin, and an
# engine says so to its core alone.
_ITS_OWN = {"PYTHONUNBUFFERED": "1", "OPENBLAS_NUM_THREADS": "1", "GOMP_SPINCOUNT": "1000"}
_MAX_MESSAGE = 1 << 20


@dataclass(slots=True)
class Forked:
    """A process that the server has forked, with the methods of `subprocess.Popen` that we need.

    Attributes:
        returncode: None while it runs; of one that was killed -9, by whichever signal.
    """

    pid: int
    returncode: int | None
    _channel: socket.socket
    _said: int = -signal.SIGKILL
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def poll(self) -> int | None:
        with self._lock:
            while self.returncode is None and select.select([self._channel], [], [], 0)[0]:
                self._read()
            return self.returncode

    def wait(self) -> int:
        with self._lock:
            while self.returncode is None:
                self._read()
            return self.returncode

    def send_signal(self, number: int) -> None:
        """Nothing happens to one that has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _read(self) -> None:
        """Its exit code comes before its end, which closes the channel."""
        if said := self._channel.recv(_MAX_MESSAGE):
            self._said = int(said)
        else:
            self._channel.close()
            self.returncode = self._said


def fork(
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str],
    output: BinaryIO,
    kind: Kind = "product",
) -> Forked:
    """Start `python …`, `uvicorn …` or `celery …` in the repository's folder; it dies with us."""
    return _ask(server(kind), arguments, environment, output)


class Origin:
    """Forks processes of one environment, and what is like it but for some variables.

    Args:
        modules: what it imports once Django is set up.
        apart: variables that our code does not read; a process may have others of its own.
    """

    def __init__(self, modules: Sequence[str], *, apart: Collection[str] = ()) -> None:
        self._modules = modules
        self._apart = apart
        self._forked: dict[frozenset[tuple[str, str]], Forked] = {}

    def fork(
        self, arguments: Sequence[str], *, environment: Mapping[str, str], output: BinaryIO
    ) -> Forked:
        """As `fork`. What was read of another environment forks nothing."""
        key = frozenset(item for item in environment.items() if item[0] not in self._apart)
        if key not in self._forked:
            command = [_ORIGIN, *self._modules]
            self._forked[key] = fork(command, environment=environment, output=output)
        return _ask(self._forked[key]._channel, arguments, environment, output)

    def end(self) -> None:
        """And with it what it has forked."""
        for forked in self._forked.values():
            forked.kill()
        self._forked.clear()


def _ask(
    server: socket.socket,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    output: BinaryIO,
) -> Forked:
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with its:
        message = json.dumps([list(arguments), dict(environment)]).encode()
        socket.send_fds(server, [message], [its.fileno(), output.fileno()])
    if not (pid := ours.recv(_MAX_MESSAGE)):
        raise RuntimeError(f"What was to fork {arguments[0]} has ended: its output says why.")
    return Forked(int(pid), None, ours)


@functools.cache
def server(kind: Kind = "product") -> socket.socket:
    """Of the tests' process: started when it is first needed, told to end by our own end."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with its:
        subprocess.Popen(
            [sys.executable, "-m", "tests.support.forkserver", str(its.fileno()), kind],
            cwd=ROOT,
            env={name: value for name, value in os.environ.items() if name in _KEPT} | _ITS_OWN,
            stdin=subprocess.DEVNULL,
            pass_fds=[its.fileno()],
            start_new_session=True,
        )
    return ours


def _serve(control: socket.socket) -> tuple[socket.socket, list[str]] | None:
    """Fork for each request. Returns in the children, with what they shall run."""
    signal.signal(signal.SIGCHLD, _forget_the_ended)
    gc.collect()
    gc.freeze()
    while True:
        message, fds, _, _ = socket.recv_fds(control, _MAX_MESSAGE, 2)
        if not message:
            return None
        arms = die_with_parent(signal.SIGKILL)
        if os.fork() == 0:
            arms()
            control.close()
            channel, output = fds
            arguments, environment = json.loads(message)
            _become(environment, output)
            said = socket.socket(fileno=channel)
            said.send(str(os.getpid()).encode())
            return said, arguments
        for fd in fds:
            os.close(fd)


def _import_our_code(modules: Sequence[str]) -> None:
    """What every process of this environment imports, in the one that they are forked from."""
    import django

    django.setup(set_prefix=False)
    for name in modules:
        importlib.import_module(name)
    if len(list(Path("/proc/self/task").iterdir())) > 1:
        raise RuntimeError("An import has started a thread, which a fork would lose.")


def _forget_the_ended(_number: int, _frame: FrameType | None) -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _become(environment: dict[str, str], output: int) -> None:
    """What starting a program would have made of this process."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    os.environ.clear()
    os.environ.update(environment)


def _run(arguments: list[str]) -> None:
    program, *options = arguments
    # What `ps` and `top` name it.
    Path("/proc/self/comm").write_text(_short_name(arguments))
    if program == "python" and options[0] == "-m":
        sys.argv = options[1:]
        runpy.run_module(options[1], run_name="__main__", alter_sys=True)
    elif program == "python":
        sys.argv = options
        runpy.run_path(options[0], run_name="__main__")
    else:
        sys.argv = arguments
        runpy.run_module(program, run_name="__main__", alter_sys=True)


def _short_name(arguments: Sequence[str]) -> str:
    """`uvicorn`, `celery worker`, `manage.py relay`: what the kernel keeps are 15 characters."""
    program = Path(arguments[0]).name
    names = {"worker", "beat", "relay", "aggregate", "detect_abuse"}
    return " ".join([program, *(word for word in arguments[1:] if word in names)])


def main() -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in _LIBRARIES[sys.argv[2]]:
            importlib.import_module(name)
    forked = _serve(socket.socket(fileno=int(sys.argv[1])))
    if forked is not None and forked[1][0] == _ORIGIN:
        channel, (_, *modules) = forked
        _import_our_code(modules)
        forked = _serve(channel)
    if forked is None:
        return 0
    channel, arguments = forked
    code: object = 1
    try:
        _run(arguments)
        code = 0
    except SystemExit as ended:
        code = ended.code
        raise
    finally:
        number = code if isinstance(code, int) else int(code is not None)
        channel.send(str(number).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
