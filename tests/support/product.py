"""The whole product as subprocesses, with services of its own: what a user would meet.

It shares nothing with the tests that run inside the pytest process: other services, another
database, other directories. Tests act over HTTP (`product.url`, or one `product.webs[i].url`),
and look at what is stored with `product.rows(...)`.
"""

import os
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
from psycopg.rows import dict_row

from infra.launcher import procfile
from infra.launcher.probe import DemoLogin, read_demo_login
from infra.services.bundle import ServiceBundle
from infra.services.ports import free_port
from tests.support import cluster
from tests.support.engine import ENGINE_KEY
from tests.support.forkserver import Origin
from tests.support.inside import Inside
from tests.support.processes import ProductProcess, run_python
from tests.support.static_files import share_static_files

_START_TIMEOUT_SECONDS = 90.0
_PORT_ATTEMPTS = 3
_LOOK_S = 0.05
# Opens the outbox of every product of the tests (tests/support/outbox.py).
OUTBOX_TOKEN = "outbox-of-the-tests"
_BACKGROUND = ("worker", "beat", "relay", "aggregator")
OUR_CODE = ["tests.support.product_code"]


_started: dict[str, "Product"] = {}


def _one_worker(commands: Mapping[str, str]) -> dict[str, str]:
    """The Procfile's commands, where `worker` takes all queues but that of webhooks: a process for
    each queue costs every test seconds of processor time."""
    worker = commands["worker"].replace("titles,celery", "titles,celery,money,data,mail")
    return {**commands, "worker": worker}


def product_at(url: str) -> "Product":
    """That which listens there."""
    return _started[url.rstrip("/")]


class ProductDidNotStart(RuntimeError):
    """A process of the product ended or did not answer in time; its last words follow."""


@dataclass(frozen=True, slots=True)
class Web:
    """One web process and where it listens."""

    process: ProductProcess
    url: str


class Product:
    """The processes of the Procfile on free ports.

    `webs[i].process.kill()`, `process("relay").kill()`, `services.service("REDIS_URL").kill()`
    end one part as a crash would; `start()` on the same handle brings it back.
    """

    def __init__(
        self,
        directory: Path,
        *,
        engine_url: str,
        engine_api_key: str = ENGINE_KEY,
        webs: int = 1,
        background: Sequence[str] = _BACKGROUND,
        settings: dict[str, str] | None = None,
    ) -> None:
        """
        Args:
            webs: how many web processes; each has one uvicorn worker, so its pid is the one
                that serves.
            background: which of the other processes to start.
            settings: environment variables of the product that differ from the defaults.
        """
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        # A service that the test brings itself (its URL is among the settings) is not started.
        self.services = ServiceBundle(directory / "services", settings or {}, throw_away=True)
        self.var = directory / "var"
        self.webs: list[Web] = []
        self._number_of_webs = webs
        self._background_names = background
        self._background: dict[str, ProductProcess] = {}
        self._inside: Inside | None = None
        self._origin = Origin(OUR_CODE, apart=["PARLEY_PORT"])
        self.environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.support.product_settings",
            "PARLEY_VAR": str(self.var),
            "PARLEY_KEYS": f"1:{secrets.token_urlsafe(32)}",
            "PARLEY_ENGINE_URL": engine_url,
            "PARLEY_ENGINE_API_KEY": engine_api_key,
            "PARLEY_OUTBOX_TOKEN": OUTBOX_TOKEN,
            "PARLEY_WEB_WORKERS": "1",
            # Every test signs up people of its own, all from this address.
            "PARLEY_SIGNUPS_PER_HOUR": "100000",
            "PYTHONUNBUFFERED": "1",
            **(settings or {}),
        }
        self._public_url = self.environment.get("PARLEY_PUBLIC_URL")

    @property
    def url(self) -> str:
        """The first web process; the others are in `webs`."""
        return self.webs[0].url

    @property
    def urls(self) -> list[str]:
        """Of each web process."""
        return [web.url for web in self.webs]

    @property
    def demo_login(self) -> DemoLogin:
        """The owner of the demo organization."""
        return read_demo_login(self.var)

    def process(self, name: str) -> ProductProcess:
        """A process of the background: `worker`, `beat`, `relay` or `aggregator`."""
        return self._background[name]

    def start(self) -> None:
        """Services, database, processes, until every web process is ready."""
        self.var.mkdir(exist_ok=True)
        share_static_files(self.var)
        if (postgres := self.services.service("DATABASE_URL")) is not None:
            cluster.place(postgres.data_dir)
        self.environment |= self.services.start()
        ports = self._choose_ports()
        self._prepare()
        self._start_webs(ports)
        commands = _one_worker(procfile.read())
        for name in self._background_names:
            log = self.directory / f"{name}.log"
            process = self._process_of(name, commands[name], self.environment, log)
            process.start()
            self._background[name] = process

    def bring_to(self, *, webs: int, background: Sequence[str] = ()) -> None:
        """Bring back what was killed, and end what is not asked for.

        Args:
            webs: so many web processes run and are ready, the first ones.
            background: these other processes run, of those that it was started with.
        """
        for service in self.services.services:
            service.start()
        for name, process in self._background.items():
            if name in background:
                process.start()
            else:
                process.kill()
        for web in self.webs[:webs]:
            web.process.start()
        for web in self.webs[webs:]:
            web.process.kill()
        for web in self.webs[:webs]:
            self.wait_until_ready(web)

    def _choose_ports(self) -> list[int]:
        """Of the web processes; the first is the public one, unless the settings name another."""
        ports = [free_port() for _ in range(self._number_of_webs)]
        self.environment["PARLEY_PUBLIC_URL"] = self._public_url or f"http://127.0.0.1:{ports[0]}"
        return ports

    def _start_webs(self, ports: list[int]) -> None:
        """Until all are ready; on other ports where somebody took one of theirs meanwhile."""
        for attempts_left in reversed(range(_PORT_ATTEMPTS)):
            self.webs = [self._start_web(port) for port in ports]
            try:
                for web in self.webs:
                    self.wait_until_ready(web)
                    _started[web.url] = self
                return
            except ProductDidNotStart as error:
                if not attempts_left or "address already in use" not in str(error):
                    raise
                for web in self.webs:
                    web.process.kill()
                ports = self._choose_ports()

    def _process_of(
        self, name: str, command: str, environment: Mapping[str, str], log: Path
    ) -> ProductProcess:
        return ProductProcess(name, command, environment, log, origin=self._origin)

    def _start_web(self, port: int) -> Web:
        variables = {**self.environment, "PARLEY_PORT": str(port)}
        log = self.directory / f"web-{port}.log"
        process = self._process_of("web", procfile.read()["web"], variables, log)
        process.start()
        return Web(process, f"http://127.0.0.1:{port}")

    def stop(self) -> None:
        """End all processes, then the services, and delete their data."""
        for web in self.webs:
            web.process.kill()
        for process in self._background.values():
            process.kill()
        if self._inside is not None:
            self._inside.kill()
        self._origin.end()
        self.services.destroy()

    def wait_until_ready(self, web: Web) -> None:
        """Wait until `web` says that it can serve, and has a replica (`/readyz`)."""
        deadline = time.monotonic() + _START_TIMEOUT_SECONDS
        while True:
            try:
                answer = httpx.get(f"{web.url}/readyz", timeout=5)
                if answer.status_code == 200 and answer.json()["checks"]["replicas"]["ok"]:
                    return
            except httpx.HTTPError:
                pass
            if not web.process.is_running or time.monotonic() > deadline:
                raise ProductDidNotStart(web.process.last_words)
            time.sleep(0.1)

    def rows(self, query: str, parameters: Sequence[object] = ()) -> list[dict[str, Any]]:
        """What is stored, by SQL: the product's own code has no part in the answer."""
        url = self.environment["DATABASE_URL"]
        with psycopg.connect(url, row_factory=dict_row) as connection:
            return connection.execute(query.encode(), parameters).fetchall()

    def give_largest_plan(self, organization_id: str) -> None:
        """So that few requests of its people meet a limit."""
        self.rows(
            "UPDATE accounts_organization SET plan_id = 'premium' WHERE id = %s RETURNING id",
            [organization_id],
        )

    def wait_until(self, condition: str, parameters: Sequence[object] = ()) -> None:
        """Until an SQL expression is true, for 90 s at most. A look is one query, no request to
        the product, and so may be often."""
        deadline = time.monotonic() + _START_TIMEOUT_SECONDS
        query = f"SELECT ({condition})".encode()
        with psycopg.connect(self.environment["DATABASE_URL"], autocommit=True) as connection:
            while connection.execute(query, parameters).fetchone() != (True,):
                assert time.monotonic() < deadline, f"it did not happen: {condition}, {parameters}"
                time.sleep(_LOOK_S)

    def manage(self, *arguments: str) -> str:
        """Run a management command against this product; its output."""
        return self._python("manage.py", *arguments)

    def inside(self, code: str) -> None:
        """Run statements in a process of this product, as `manage.py shell -c` would."""
        if self._inside is None:
            self._inside = Inside(self.directory, self.environment, self._origin)
        self._inside.run(code)

    def _prepare(self) -> None:
        self._python("-m", "infra.launcher.prepare")

    def _python(self, *arguments: str) -> str:
        done = run_python(*arguments, environment=self.environment, origin=self._origin)
        if done.returncode != 0:
            raise ProductDidNotStart(f"{' '.join(arguments)}: {done.stdout}")
        return done.stdout
