"""`manage.py up`: everything that Parley needs, started; a first token, served; all ended again.

Ctrl-C or SIGTERM ends everything cleanly, a second one by force. Whatever is configured
(DATABASE_URL, REDIS_URL, KAFKA_BOOTSTRAP_SERVERS, PARLEY_POOLS or PARLEY_ENGINE_URL) is used
and not started here.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import FrameType

from backend.platform.machine_models import Command
from infra.launcher import configured, environment, frontend, model, probe, procfile, voice
from infra.launcher.console import Console
from infra.launcher.errors import LaunchError, excerpt
from infra.launcher.fleet import Fleet
from infra.launcher.fleet_link import FleetLink
from infra.launcher.fleet_pools import FleetPools
from infra.launcher.model_spec import DEFAULT, SMALL, Beside, known_models, read_spec
from infra.launcher.provisioning import PoolsFolder, Provisioning, Publisher
from infra.launcher.supervisor import BACKGROUND_NICENESS, Supervisor
from infra.services.bundle import ServiceBundle
from infra.services.errors import ServiceError
from infra.services.keeper import ServiceKeeper
from infra.services.ports import free_port, port_is_free

_FIRST_TOKEN_TIMEOUT_SECONDS = 180.0
_ENGINE = "engine"
_TEND_SECONDS = 0.1
_NAME_WIDTH = len("aggregator")


class Launch:
    """One run of the product, from nothing to the end."""

    def __init__(self, *, host: str, port: int, model: str, console: Console) -> None:
        self._host = host
        self._port = port
        self._console = console
        self._var = environment.var_directory(os.environ)
        self._variables: dict[str, str] = {}
        self._services: ServiceBundle | None = None
        self._keeper: ServiceKeeper | None = None
        self._supervisor: Supervisor | None = None
        self._spec = read_spec(DEFAULT if model == SMALL else model)
        self._declined = "MODEL=small was asked for" if model == SMALL else None
        self._pools = PoolsFolder(self._var)
        self._provisioning: Provisioning | None = None
        self._fleet: Fleet | None = None
        self._fleet_link: FleetLink | None = None
        self._has_served = threading.Event()

    @property
    def url(self) -> str:
        """Where a browser on this machine finds the page."""
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """All steps up to running processes.

        Raises:
            LaunchError, ServiceError: one sentence about what is missing or in the way.
        """
        if not port_is_free(self._port, self._host):
            raise LaunchError(
                f"Port {self._port} is already in use: stop the other process, "
                f"or choose another port with `make run PORT={self._port + 1}`."
            )
        self._var.mkdir(parents=True, exist_ok=True)
        self._set_variables()
        environment.publish(self._var, self._variables)
        configured.check(os.environ)
        self._start_services()
        self._variables.setdefault("PARLEY_ENGINE_REGISTRY", self._environment()["REDIS_URL"])
        self._supervisor = Supervisor(self._environment(), self._console)
        commands = procfile.read()
        if self._engine_is_ours():
            self._fetch_model()
            self._pools.prepare(procfile.ROOT / "infra" / "pools.toml")
            if self._has_voice():
                self._pools.add("97-voice.toml", voice.POOLS)
            # It loads its weights while the page is built and the database prepared.
            self._supervisor.add(_ENGINE, commands[_ENGINE])
        self._build_page()
        self._prepare()
        self._supervisor.add("web", commands["web"], PROMETHEUS_MULTIPROC_DIR=self._metrics())
        for name, command in commands.items():
            if name not in {_ENGINE, "web"}:
                self._supervisor.add(name, command)
        if self._engine_is_ours():
            self._provisioning = self._larger_model(self._supervisor, commands[_ENGINE])
            self._fleet = self._added_models(self._supervisor, commands[_ENGINE])
            self._fleet_link = FleetLink(self._fleet, self._environment()["REDIS_URL"])
        if self._has_voice():
            self._supervisor.add(voice.PROCESS, voice.COMMAND, niceness=BACKGROUND_NICENESS)

    def serve(self) -> None:
        """Tend services and processes for ever; say so once a first token has been served."""
        assert self._supervisor is not None and self._keeper is not None
        threading.Thread(target=self._announce, daemon=True).start()
        while True:
            self._keeper.tend()
            self._supervisor.tend()
            if self._provisioning is not None and self._has_served.is_set():
                self._provisioning.tend()
            if self._fleet is not None and self._has_served.is_set():
                self._fleet.tend()
            time.sleep(_TEND_SECONDS)

    def stop(self) -> None:
        """End everything: web first, services last."""
        self._stop_models()
        if self._keeper is not None:
            self._keeper.stop()
        if self._supervisor is not None:
            self._supervisor.stop()
        if self._services is not None:
            self._services.stop()
        environment.withdraw(self._var)

    def kill(self) -> None:
        """End everything now. The database recovers from its log on the next start."""
        self._stop_models()
        if self._keeper is not None:
            self._keeper.stop()
        if self._supervisor is not None:
            self._supervisor.kill()
        if self._services is not None:
            for service in self._services.services:
                service.kill()
        environment.withdraw(self._var)

    def _stop_models(self) -> None:
        """End what fetches models, and say no more of them."""
        if self._fleet_link is not None:
            self._fleet_link.stop()
        if self._fleet is not None:
            self._fleet.stop()
        if self._provisioning is not None:
            self._provisioning.stop()

    def _set_variables(self) -> None:
        defaults = {
            **environment.generated_secrets(self._var, os.environ),
            "PARLEY_VAR": str(self._var),
            "PARLEY_PUBLIC_URL": self.url,
            "PARLEY_INTERNAL_URL": self.url,
            "PARLEY_LOG_FORMAT": "console",
            "PARLEY_SHARED_QUEUE": "1",  # there are two web processes
            "PARLEY_MODEL_FILE": str(model.model_file(self._models)),
        }
        if self._engine_is_ours():
            port = free_port()
            defaults["PARLEY_ENGINE_PORT"] = str(port)
            defaults["PARLEY_ENGINE_URL"] = f"http://127.0.0.1:{port}"
            defaults["PARLEY_POOLS"] = str(self._pools.path)
            if self._has_voice():
                port = free_port()
                defaults["PARLEY_VOICE_PORT"] = str(port)
                defaults["PARLEY_VOICE_URL"] = f"http://127.0.0.1:{port}"
                defaults["PARLEY_VOICE_MODELS"] = str(voice.models_directory(self._models))
        else:
            # Ours is not sent to an engine that somebody else has configured.
            defaults.pop("PARLEY_ENGINE_API_KEY", None)
        self._variables = {
            name: os.environ.get(name, default) for name, default in defaults.items()
        }
        self._variables |= {"PARLEY_HOST": self._host, "PARLEY_PORT": str(self._port)}

    @property
    def _models(self) -> Path:
        return self._var / "models"

    def _engine_is_ours(self) -> bool:
        return not (os.environ.get("PARLEY_POOLS") or os.environ.get("PARLEY_ENGINE_URL"))

    def _has_voice(self) -> bool:
        return self._engine_is_ours() and voice.is_there(voice.models_directory(self._models))

    def _environment(self) -> dict[str, str]:
        ours = {**os.environ, **self._variables}
        return procfile.with_our_python(ours, Path(sys.executable))

    def _start_services(self) -> None:
        self._services = ServiceBundle(self._var / "services", os.environ)
        services = self._services.services
        if services:
            names = ", ".join(service.name for service in services)
            with self._console.step(f"start embedded services: {names}"):
                self._variables |= self._services.start()
            environment.publish(self._var, self._variables)
        self._keeper = ServiceKeeper(services, self._log_service)

    def _log_service(self, name: str, text: str) -> None:
        self._console.log(name, text, colour="bold", width=_NAME_WIDTH)

    def _fetch_model(self) -> None:
        if not model.is_present(self._models):
            with self._console.step("fetch the default model, 93 MB"):
                model.ensure(self._models)

    def _larger_model(self, supervisor: Supervisor, engine_command: str) -> Provisioning:
        """The model that becomes the default once it is there; nothing waits for it."""
        return Provisioning(
            self._spec,
            models=self._models,
            pools=self._pools,
            supervisor=supervisor,
            engine_command=engine_command,
            console=self._console,
            publisher=Publisher(self._spec, self._environment()["REDIS_URL"]),
            declined=self._declined,
        )

    def _added_models(self, supervisor: Supervisor, engine_command: str) -> Fleet:
        """Those that operators add, and those that come beside the better model."""
        fleet = Fleet(
            self._var,
            pools=FleetPools(self._pools.path, self._models),
            supervisor=supervisor,
            engine_command=engine_command,
            console=self._console,
            environment=os.environ,
        )
        for one in self._beside():
            fleet.bring(
                Command(
                    "add",
                    one.id,
                    source=one.source,
                    name=one.name,
                    license=one.license,
                    notice=one.notice,
                    memory=one.memory,
                )
            )
        return fleet

    def _beside(self) -> tuple[Beside, ...]:
        return self._spec.beside if self._declined is None and self._engine_is_ours() else ()

    def _build_page(self) -> None:
        if frontend.build_is_current():
            return
        node = frontend.find_node()
        with self._console.step("install the page's packages"):
            frontend.ensure_packages(node)
        with self._console.step("build the page"):
            frontend.build(node)

    def _prepare(self) -> None:
        with self._console.step("migrate, collect static files, seed the demo organization"):
            done = subprocess.run(
                [sys.executable, "-m", "infra.launcher.prepare", *self._pools_to_come()],
                cwd=procfile.ROOT,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            if done.returncode != 0:
                raise LaunchError(f"The database could not be prepared:\n{excerpt(done.stdout)}")

    def _pools_to_come(self) -> list[str]:
        if not self._engine_is_ours():
            return []
        prices = [f"{model.id}={model.price}" for model in self._beside()]
        voices = [str(voice.POOLS)] if self._has_voice() else []
        return [str(self._spec.pools), *voices, *prices]

    def _metrics(self) -> str:
        """Where the web processes add up their metrics: whichever is asked knows those of all."""
        directory = self._var / "run" / "metrics"
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        return str(directory)

    def _announce(self) -> None:
        login = probe.read_demo_login(self._var)
        sign_in = f"Sign in as {login.email} with password {login.password}"
        failure = None
        try:
            failure = probe.wait_for_first_token(
                self.url,
                login,
                engine_url=self._variables.get("PARLEY_ENGINE_URL"),
                timeout=_FIRST_TOKEN_TIMEOUT_SECONDS,
            )
        except probe.LoginRefusedError as refused:
            sign_in = (
                f"Sign in as {login.email}; the password kept here no longer works ({refused})"
            )
        say = self._console.line
        self._has_served.set()
        if failure is not None:
            say(self._console.paint(f"  ✗ no token could be served so far: {failure}", "red"))
            return
        say()
        say(self._console.paint(f"  Parley serves at {self.url}", "bold"))
        say(f"  {sign_in}")
        if not os.environ.get("PARLEY_SMTP_HOST"):
            token = self._variables["PARLEY_OUTBOX_TOKEN"]
            say(f"  Mails, such as of sign-ups, are at {self.url}/outbox?token={token}")
        say(f"  (kept in {self._var / 'demo-login.txt'}; Ctrl-C stops everything)")
        say()


def main(arguments: list[str]) -> int:
    """Run `manage.py up`; the exit code is 0 after a stop that was asked for."""
    parser = argparse.ArgumentParser(prog="manage.py up", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=8000, help="port of the page and the API")
    parser.add_argument(
        "--model",
        default=DEFAULT,
        help=f"what answers as soon as it is fetched ({', '.join(known_models())}, or the path of"
        " such a file of infra/models); small: only the small model, which answers until then",
    )
    options = parser.parse_args(arguments)

    console = Console()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        launch = Launch(host=options.host, port=options.port, model=options.model, console=console)
    except LaunchError as error:
        console.line(console.paint(f"  ✗ {error}", "red"))
        return 1
    try:
        return _run(launch, console)
    finally:
        try:
            launch.stop()
        except KeyboardInterrupt:
            launch.kill()
        console.line("  Stopped.")


def _run(launch: Launch, console: Console) -> int:
    try:
        launch.start()
        launch.serve()
    except (LaunchError, ServiceError) as error:
        console.line(console.paint(f"  ✗ {error}", "red"))
        return 1
    except KeyboardInterrupt:
        console.line("\n  Stopping. Once more to force it.")
    return 0


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
