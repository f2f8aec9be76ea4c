"""The model that comes after the start: fetched, checked, served, and made the default.

The product answers with the small model meanwhile and notices nothing but a neighbour that is
nice: the fetching process and, until it has loaded its model, the new engine run with low priority.
The model becomes the default by a file in the folder that `PARLEY_POOLS` names, which every web
process reads again by itself: first after the others, so that all have probed its engine before
anybody is sent there, then before them, which gives it the alias `auto` and the first place.

Every step can fail, and then the product goes on with what it has and says why. `tend()` is called
from the launcher's loop, whose thread must be the one that starts processes (supervisor.py).
"""

import json
import shlex
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import httpx
import redis

from infra.launcher.console import Console
from infra.launcher.model_spec import ModelSpec
from infra.launcher.resources import free_memory, gigabytes
from infra.launcher.supervisor import BACKGROUND_NICENESS, Supervisor, in_background
from infra.services.ports import LOOPBACK, free_port
from infra.services.process import end_tree

State = Literal["waiting", "fetching", "checking", "loading", "declined", "ready"]

PROCESS = "engine-2"
KEY = "models:pending"
"""Where web processes look (backend/generation/pools/pending.py)."""
_KEPT_SECONDS = 15
_MAX_FAILED_STARTS = 2
_SETTLE_SECONDS = 5.0
"""From when the web processes know the pool until it is the default: each has probed it then."""
_REPORT_EVERY = 0.1
"""Of the file: how often the terminal hears of it."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far it is; `detail` is a sentence for people."""

    state: State
    detail: str = ""
    done: int = 0


class PoolsFolder:
    """`var/run/pools`, which `PARLEY_POOLS` names: the product's own file, and what has come."""

    def __init__(self, var: Path) -> None:
        self.path = var / "run" / "pools"

    def prepare(self, default: Path) -> None:
        """Make it anew, with `default` in it."""
        self.path.mkdir(parents=True, exist_ok=True)
        for old in self.path.glob("*"):
            old.unlink()
        self.add("50-default.toml", default)

    def add(self, name: str, file: Path) -> None:
        """One more file, a copy of `file`."""
        self._write(name, file.read_text())

    def announce(self, spec: ModelSpec, engine_url: str) -> None:
        """The model is there, after the others and under its own name only."""
        text = spec.pools.read_text().replace("${PARLEY_ENGINE_URL}", engine_url)
        self._write(f"90-{spec.id}.toml", text)

    def make_default(self, spec: ModelSpec) -> None:
        (self.path / f"90-{spec.id}.toml").rename(self.path / f"10-{spec.id}.toml")

    def step_back(self, spec: ModelSpec) -> None:
        """It is not the default for now."""
        (self.path / f"10-{spec.id}.toml").rename(self.path / f"90-{spec.id}.toml")

    def withdraw(self, spec: ModelSpec) -> None:
        for place in ("10", "90"):
            (self.path / f"{place}-{spec.id}.toml").unlink(missing_ok=True)

    def _write(self, name: str, text: str) -> None:
        """At once, so that no reader finds half of it."""
        temporary = self.path / f".{name}"
        temporary.write_text(text)
        temporary.rename(self.path / name)


class Publisher:
    """Tells the web processes how far the model is, every second, from a thread of its own: Redis
    may be away, and the launcher must not wait for it."""

    def __init__(self, spec: ModelSpec, redis_url: str) -> None:
        self._spec = spec
        self._url = redis_url
        self.progress = Progress("waiting")
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Say nothing more; what was said is forgotten after some seconds."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                with redis.Redis.from_url(
                    self._url, socket_timeout=2, socket_connect_timeout=2
                ) as client:
                    self._publish(client)
                    while not self._stopped.wait(1):
                        self._publish(client)
            except (redis.RedisError, OSError):
                self._stopped.wait(1)

    def _publish(self, client: redis.Redis) -> None:
        progress, spec = self.progress, self._spec
        if progress.state == "ready":
            client.delete(KEY)
            return
        model = {
            "id": spec.id,
            "name": spec.name,
            "state": progress.state,
            "detail": progress.detail[:500],
            "done_bytes": progress.done,
            "total_bytes": spec.size,
            "license": spec.license,
            "notice": spec.notice,
        }
        client.set(KEY, json.dumps([model]), ex=_KEPT_SECONDS)


class Provisioning:
    """One model on its way, from nothing to the default.

    Args:
        declined: why it is not to come at all; None: it is.
    """

    def __init__(
        self,
        spec: ModelSpec,
        *,
        models: Path,
        pools: PoolsFolder,
        supervisor: Supervisor,
        engine_command: str,
        console: Console,
        publisher: Publisher,
        declined: str | None = None,
    ) -> None:
        self._spec = spec
        self._models = models
        self._pools = pools
        self._supervisor = supervisor
        self._engine_command = engine_command
        self._console = console
        self._publisher = publisher
        self._fetching: subprocess.Popen[str] | None = None
        self._fetch_said: dict[str, object] = {}
        self._reported = 0.0
        self._engine_url = ""
        self._probed_at = 0.0
        self._announced_at: float | None = None
        self._served_by: int | None = None
        if declined is not None:
            self._decline(declined)

    @property
    def state(self) -> State:
        return self._publisher.progress.state

    def tend(self) -> None:
        """Look after the step that it is at; called often, and returns at once."""
        if self.state == "waiting":
            self._begin()
        elif self.state in {"fetching", "checking"}:
            self._tend_fetching()
        elif self.state == "loading":
            self._tend_loading()
        elif self.state == "ready":
            self._tend_served()

    def stop(self) -> None:
        """End the fetching; what it has stays. The engine is the supervisor's."""
        if self._fetching is not None and self._fetching.poll() is None:
            end_tree(self._fetching.pid, stop_signal=signal.SIGKILL)

    def _begin(self) -> None:
        if (free := free_memory()) < self._spec.memory:
            needed = gigabytes(self._spec.memory)
            self._decline(f"it needs {needed} of memory, and {gigabytes(free)} are free")
            return
        spec = self._spec
        self._say(f"{spec.name} ({gigabytes(spec.size)}) is fetched in the background")
        self._say(f"  {spec.license}: {spec.notice}")
        self._fetching = in_background("infra.launcher.fetch", str(spec.path), str(self._models))
        threading.Thread(target=self._read_fetching, args=(self._fetching,), daemon=True).start()
        self._set(Progress("checking"))

    def _read_fetching(self, process: "subprocess.Popen[str]") -> None:
        """What the fetching process says, as it says it."""
        assert process.stdout is not None
        for line in process.stdout:
            try:
                self._fetch_said = dict(json.loads(line))
            except ValueError:
                continue

    def _tend_fetching(self) -> None:
        assert self._fetching is not None
        said = self._fetch_said
        if (code := self._fetching.poll()) is not None:
            if code == 0:
                self._load()
            elif said.get("state") == "failed":
                self._decline(f"it cannot be fetched: {said.get('reason')}")
            else:
                self._decline("the process that fetched it was ended; the next start goes on")
        elif said.get("state") == "checking":
            self._set(Progress("checking", done=self._publisher.progress.done))
        elif said.get("state") == "fetching":
            done = int(str(said.get("done", 0)))
            self._set(Progress("fetching", done=done))
            if (part := done / self._spec.size) >= self._reported + _REPORT_EVERY:
                self._reported = part
                self._say(f"{self._spec.name}: {part:.0%} of {gigabytes(self._spec.size)}")

    def _load(self) -> None:
        if (free := free_memory()) < self._spec.memory:
            needed = gigabytes(self._spec.memory)
            self._decline(f"its engine needs {needed} of memory, and {gigabytes(free)} are free")
            return
        port = free_port()
        self._engine_url = f"http://{LOOPBACK}:{port}"
        self._say(f"{self._spec.name} is fetched and checked; its engine loads it")
        self._set(Progress("loading", done=self._spec.size))
        options = ["--served-model-name", self._spec.id, *self._spec.engine_options]
        self._supervisor.add(
            PROCESS,
            # The command of the small model's engine; of an option given twice the last one counts.
            f"{self._engine_command} {shlex.join(options)}",
            niceness=BACKGROUND_NICENESS,
            PARLEY_MODEL_FILE=str(self._models / self._spec.file),
            PARLEY_ENGINE_PORT=str(port),
        )

    def _tend_loading(self) -> None:
        if self._gives_up():
            return
        if self._announced_at is None:
            if self._engine_is_ready():
                self._supervisor.be_usual(PROCESS)
                self._served_by = self._supervisor.pid(PROCESS)
                self._pools.announce(self._spec, self._engine_url)
                self._announced_at = time.monotonic()
        elif time.monotonic() - self._announced_at > _SETTLE_SECONDS:
            self._pools.make_default(self._spec)
            self._set(Progress("ready", done=self._spec.size))
            self._say(f"{self._spec.name} serves, and is the default now")

    def _tend_served(self) -> None:
        """While an engine that has ended loads again, the small model is the default; what runs or
        waits at the larger one is not touched."""
        if self._supervisor.pid(PROCESS) == self._served_by or self._gives_up():
            return
        self._pools.step_back(self._spec)
        self._announced_at = None
        self._set(Progress("loading", done=self._spec.size))
        self._say(f"the engine of {self._spec.name} has ended; the small model answers meanwhile")

    def _gives_up(self) -> bool:
        """Whether its engine ended again and again, which no further start will mend."""
        if self._supervisor.ends_in_a_row(PROCESS) <= _MAX_FAILED_STARTS:
            return False
        how = self._supervisor.remove(PROCESS)
        self._pools.withdraw(self._spec)
        self._decline(f"its engine ended again and again ({how}); its log is above")
        return True

    def _engine_is_ready(self) -> bool:
        if time.monotonic() - self._probed_at < 1:
            return False
        self._probed_at = time.monotonic()
        try:
            return httpx.get(f"{self._engine_url}/ready", timeout=1).status_code == 200
        except httpx.HTTPError:
            return False

    def _decline(self, reason: str) -> None:
        """It will not come; the product stays as it is, and says why."""
        self._say(f"{self._spec.name} is not served: {reason}. The small model stays.")
        self._set(Progress("declined", reason))

    def _set(self, progress: Progress) -> None:
        self._publisher.progress = progress

    def _say(self, text: str) -> None:
        self._console.line(f"  {text}")
