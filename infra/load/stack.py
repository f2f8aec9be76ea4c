"""A web process under load: services, migrations, one uvicorn worker, a key without limits.

The upstream is the synthetic one, as a process of its own; what is measured is the product's
own cost, not a model's.
"""

import os
import secrets
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import httpx
import psycopg

from infra.launcher import procfile
from infra.services.bundle import ServiceBundle
from infra.services.ports import accepts_connections, free_port
from infra.services.process import end_tree, spawn, tail

MODEL = "synthetic"
_START_TIMEOUT_S = 60.0

_POOLS = """
[[model]]
id = "{model}"
context_window = 100000
max_output_tokens = 100000
capabilities = ["chat", "completions", "streaming"]
max_concurrency = {at_once}
price_per_1k = {{ input = "0.0001", cached_input = "0.0001", output = "0.0001" }}

[[model.replica]]
name = "synthetic"
url = "{url}"
"""

# One process for all that comes before the first request: each imports Django anew.
_PREPARE = """
import os, django
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backend.settings")
django.setup()
from asgiref.sync import async_to_sync
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("seed_demo")
from backend.accounts.authentication import principal_for_session
from backend.accounts.models import User
from backend.accounts.services import api_key_create
user = User.objects.get(email="owner@parley.local")
principal = async_to_sync(principal_for_session)(user, None)
print(api_key_create(principal=principal, name="load")[1])
"""

_MAKE_ORGANIZATION_AND_KEY = """
import os, sys, django
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backend.settings")
django.setup()
from asgiref.sync import async_to_sync
from backend.accounts.authentication import principal_for_session
from backend.accounts.models import Organization
from backend.accounts.services import api_key_create, user_create
plan, name = sys.argv[1:]
user = user_create(email=f"{name}@example.org", password=os.urandom(12).hex(), name=name)
Organization.objects.filter(memberships__user=user).update(plan_id=plan)
principal = async_to_sync(principal_for_session)(user, None)
print(api_key_create(principal=principal, name="load")[1])
"""


@dataclass(frozen=True, slots=True)
class Relay:
    """A bare relay before the upstream, see `infra.load.relay`."""

    url: str
    pid: int


class StackError(RuntimeError):
    """A part did not start; the message holds its last words."""


class Stack:
    """Everything that a load test needs, for the time of a `with`."""

    def __init__(
        self,
        directory: Path,
        *,
        rate: float,
        settings: dict[str, str],
        max_concurrency: int = 100_000,
        upstream_url: str | None = None,
        services: ServiceBundle | None = None,
        compresses_files: bool = False,
        server: str = "uvicorn",
    ) -> None:
        """
        Args:
            server: what takes uvicorn's place in the Procfile's line, with its arguments.
            services: of which the database may hold the migrations already; None makes them.
            upstream_url: one that the caller runs; None starts one here.
            rate: tokens a second of each stream of the upstream.
            settings: environment variables of the web process.
            max_concurrency: generations that the upstream is given at a time.
            compresses_files: of the page, as in production: tens of seconds before the start.
        """
        self._upstream_url = upstream_url
        self._settings = settings
        self._compresses_files = compresses_files
        self._server = server
        self._at_once = max_concurrency
        self._directory = directory
        self._rate = rate
        self._services = services or ServiceBundle(directory / "services", {}, throw_away=True)
        self._processes: list[subprocess.Popen[bytes]] = []
        self._environment = dict(os.environ)
        self.key = ""

    def __enter__(self) -> "Stack":
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def _start(self) -> None:
        upstream_port, web_port = free_port(), free_port()
        self.upstream_url = self._upstream_url or f"http://127.0.0.1:{upstream_port}"
        self.web_url = f"http://127.0.0.1:{web_port}"
        pools = self._directory / "pools.toml"
        pools.write_text(_POOLS.format(model=MODEL, at_once=self._at_once, url=self.upstream_url))
        var = self._directory / "var"
        var.mkdir()
        self._environment |= self._services.start()
        self._environment |= {
            "PARLEY_VAR": str(var),
            "PARLEY_KEYS": f"1:{secrets.token_urlsafe(32)}",
            "PARLEY_POOLS": str(pools),
            "PARLEY_ENGINE_URL": self.upstream_url,
            "PARLEY_PUBLIC_URL": self.web_url,
            "PARLEY_PORT": str(web_port),
            "PARLEY_WEB_WORKERS": "1",
            "PARLEY_LOG_LEVEL": "WARNING",
            "PARLEY_MAX_QUEUED_GENERATIONS": "100000",
            **self._settings,
        }
        if self._upstream_url is None:
            self._start_upstream(upstream_port)
        prepared = self._python("-c", _PREPARE)
        self.key = prepared.strip().splitlines()[-1]
        with psycopg.connect(self._environment["DATABASE_URL"]) as connection:
            connection.execute(
                "UPDATE accounts_plan SET requests_per_minute = 1000000,"
                " tokens_per_minute = 1000000000, concurrent_generations = 1000000"
            )
        if self._compresses_files:
            self.manage("collectstatic", "--no-input", "--verbosity=0")
        self._environment = procfile.with_our_python(self._environment, Path(sys.executable))
        line = procfile.read()["web"].replace("uvicorn", self._server, 1)
        web = self._spawn(procfile.argv(line), "web")
        self.web_pid = web.pid
        self._wait_ready(web, self.web_url)

    def _start_upstream(self, port: int) -> None:
        self._spawn(
            [
                *(sys.executable, "-m", "infra.load.upstream", "--prose"),
                *("--port", str(port), "--rate", str(self._rate)),
            ],
            "upstream",
        )

    def start_relay(self) -> Relay:
        port = free_port()
        target = self.upstream_url.rpartition(":")[2]
        command = [sys.executable, "-m", "infra.load.relay", "--port", str(port)]
        relay = self._spawn([*command, "--upstream-port", target], "relay")
        while not accepts_connections(port):
            if relay.poll() is not None:
                raise StackError(tail(self._directory / "relay.log", lines=30))
            time.sleep(0.05)
        return Relay(f"http://127.0.0.1:{port}", relay.pid)

    @property
    def database_url(self) -> str:
        return self._environment["DATABASE_URL"]

    @property
    def redis_url(self) -> str:
        return self._environment["REDIS_URL"]

    def another_web_process(self) -> int:
        """Start one beside the first, at a port of its own; its process id."""
        port = str(free_port())
        first = self._environment
        self._environment = {**first, "PARLEY_PORT": port}
        try:
            web = self._spawn(procfile.argv(procfile.read()["web"]), f"web-{port}")
        finally:
            self._environment = first
        self._wait_ready(web, f"http://127.0.0.1:{port}")
        return web.pid

    def start_process(self, name: str) -> None:
        """Start another of the Procfile's processes."""
        self._spawn(procfile.argv(procfile.read()[name]), name)

    def manage(self, *arguments: str) -> str:
        """Run a management command; what it printed."""
        return self._python("manage.py", *arguments)

    def key_of_plan(self, plan: str, name: str) -> str:
        """A key of a new organization with this plan."""
        program = _MAKE_ORGANIZATION_AND_KEY
        return self._python("-c", program, plan, name).strip().splitlines()[-1]

    def run_python(self, program: str, *arguments: str) -> str:
        """Run a program with the product's settings; what it printed."""
        return self._python("-c", program, *arguments)

    def _spawn(self, command: list[str], name: str) -> subprocess.Popen[bytes]:
        process = spawn(
            command,
            log=self._directory / f"{name}.log",
            environment=self._environment,
            death_signal=signal.SIGKILL,
            cwd=procfile.ROOT,
        )
        self._processes.append(process)
        return process

    def _python(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=procfile.ROOT,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise StackError(done.stdout + done.stderr)
        return done.stdout

    def _wait_ready(self, web: subprocess.Popen[bytes], url: str) -> None:
        deadline = time.monotonic() + _START_TIMEOUT_S
        while True:
            try:
                answer = httpx.get(f"{url}/readyz", timeout=5)
                if answer.status_code == 200 and answer.json()["checks"]["replicas"]["ok"]:
                    return
            except httpx.HTTPError:
                pass
            if web.poll() is not None or time.monotonic() > deadline:
                raise StackError(tail(self._directory / "web.log", lines=30))
            time.sleep(0.2)

    def _stop(self) -> None:
        for process in reversed(self._processes):
            end_tree(process.pid)
            process.wait()
        self._services.destroy()
