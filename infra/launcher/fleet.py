"""The models that operators have added to this machine, beside those that `make run` brings.

What is asked (`manage.py models`, the admin's *Models*) comes as files of commands; which models
there are is kept in `VAR/models/machine.json`; how they are is told in Redis (fleet_link.py). A
model that is there has a pools file, so every process knows it within a second. Its engine is
loaded when somebody asks for it, and those that were not used for longest are unloaded when there
is no memory for another: within `PARLEY_MODEL_MEMORY` where that is set, else what is free.

Called from the launcher's loop, whose thread must be the one that starts processes. Nothing here
ends the product: what cannot be done is said of the model that it is about.
"""

import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from backend.platform.machine_models import Command, MachineModel, commands_take
from infra.launcher.console import Console
from infra.launcher.fleet_pools import FleetPools
from infra.launcher.machine_model import ManagedModel, Record, plain
from infra.launcher.resources import free_memory, gigabytes, parse_bytes
from infra.launcher.supervisor import Supervisor

BUDGET_VARIABLE = "PARLEY_MODEL_MEMORY"
_COMMANDS_SECONDS = 0.5
_IN_USE_SECONDS = 5.0
"""A model that was asked for so lately is not unloaded: web processes say so twice a second while
anything runs there."""


class Fleet:
    """All added models.

    Args:
        var: the product's data.
        environment: has the budget, where one is set.
    """

    def __init__(
        self,
        var: Path,
        *,
        pools: FleetPools,
        supervisor: Supervisor,
        engine_command: str,
        console: Console,
        environment: Mapping[str, str],
    ) -> None:
        self._var = var
        self._pools = pools
        self._supervisor = supervisor
        self._engine_command = engine_command
        self._console = console
        self._budget = parse_bytes(environment.get(BUDGET_VARIABLE, ""))
        self._file = var / "models" / "machine.json"
        self._looked_at = 0.0
        self._asked: dict[str, float] = {}
        self._began = time.time()
        self._failure = ""
        self._models = {record.id: self._managed(record) for record in self._read()}
        self._kept = [model.record for model in self._models.values()]

    def asked(self, times: Mapping[str, float]) -> None:
        """When each model was last asked for, as the web processes say. From any thread."""
        self._asked = dict(times)

    def statuses(self) -> list[MachineModel]:
        """From any thread."""
        return [model.status() for model in list(self._models.values())]

    def tend(self) -> None:
        """Look after all of them; called often. No model ends the product: a full disk, a process
        that cannot be started, and what we did not think of is said, and tried again."""
        try:
            self._tend()
        except Exception as error:
            failure = f"{type(error).__name__}: {error}"
            if failure != self._failure:
                self._console.line(f"  Added models cannot be looked after: {failure}")
            self._failure = failure
        else:
            self._failure = ""

    def _tend(self) -> None:
        if time.monotonic() - self._looked_at > _COMMANDS_SECONDS:
            self._looked_at = time.monotonic()
            for command in commands_take(self._var):
                self._obey(command)
        for model in list(self._models.values()):
            model.used_at = max(model.used_at, self._asked.get(model.record.id, 0.0))
            model.tend()
            if model.state == "fetching" and model.total > self._most():
                model.decline(self._too_large(model.total))
            elif model.state == "idle":
                self._tend_idle(model)
        self._pools.write(list(self._models.values()))
        self._keep()

    def stop(self) -> None:
        """End the fetching; engines are the supervisor's."""
        for model in self._models.values():
            if not model.is_loaded:
                model.end()

    def add(self, command: Command) -> None:
        """Add a model, unless its name is taken."""
        if command.id in self._models or self._pools.is_taken(command.id):
            self._console.line(f"  The model {command.id} is there already: nothing is added.")
            return
        record = Record(
            command.id,
            plain(command.name) or command.id,
            command.source,
            plain(command.license),
            plain(command.notice),
            command.memory,
            command.max_model_len,
        )
        self._models[command.id] = model = self._managed(record)
        model.used_at = time.time()  # it is loaded as soon as it is there

    def bring(self, command: Command) -> None:
        """Have a model that comes with the product, unless it was brought before: it may have been
        stopped since. It is loaded when it is first asked for."""
        if command.id not in self._models:
            self.add(command)
            model = self._models[command.id]
            model.record = msgspec.structs.replace(model.record, is_brought=True)
            model.used_at = 0.0

    def _obey(self, command: Command | str) -> None:
        if isinstance(command, str):
            self._console.line(f"  {command}")
            return
        if command.action == "add":
            self.add(command)
            return
        model = self._models.get(command.id)
        if model is None:
            self._console.line(f"  There is no added model {command.id} to {command.action}.")
        elif command.action == "default":
            self._make_default(command.id)
        elif command.action == "start":
            model.start()
            model.used_at = time.time()
        elif command.action == "stop" or model.record.is_brought:
            model.stop()
        else:
            model.end()
            del self._models[command.id]
            self._pools.remove(model)

    def _make_default(self, model_id: str) -> None:
        for other in self._models.values():
            is_default = other.record.id == model_id and not other.record.is_default
            other.record = msgspec.structs.replace(other.record, is_default=is_default)

    def _tend_idle(self, model: ManagedModel) -> None:
        """Load it where it was asked for since it was unloaded, and there is room."""
        if model.memory > self._most():
            model.decline(self._too_large(model.memory))
        elif model.used_at > max(self._began, model.unloaded_at) and self._make_room(model):
            model.load()

    def _make_room(self, model: ManagedModel) -> bool:
        """Unload what was not used for longest until the model fits; nothing where it would not."""
        now = time.time()
        free = self._free()
        victims = sorted(
            (
                other
                for other in self._models.values()
                if other.state == "ready" and now - other.used_at > _IN_USE_SECONDS
            ),
            key=lambda other: other.used_at,
        )
        chosen = []
        while free < model.memory and victims:
            chosen.append(victims.pop(0))
            free += chosen[-1].memory
        if free < model.memory:
            model.detail = (
                f"waits for memory: it needs {gigabytes(model.memory)}, and {gigabytes(free)} are"
                " left beside models that are in use"
            )
            return False
        for other in chosen:
            self._console.line(f"  {other.record.id} is unloaded: {model.record.id} is asked for")
            other.unload()
        return True

    def _free(self) -> int:
        loaded = sum(model.memory for model in self._models.values() if model.is_loaded)
        return min(free_memory(), self._budget - loaded) if self._budget else free_memory()

    def _most(self) -> int:
        """What a model could have if no other were loaded."""
        loaded = sum(model.memory for model in self._models.values() if model.is_loaded)
        return self._free() + loaded

    def _too_large(self, needed: int) -> str:
        limit = f" of {BUDGET_VARIABLE}" if self._budget else ""
        return (
            f"it needs {gigabytes(needed)} of memory, and {gigabytes(self._most())}{limit} are free"
        )

    def _managed(self, record: Record) -> ManagedModel:
        return ManagedModel(
            record,
            directory=self._var / "models" / "fetched",
            supervisor=self._supervisor,
            engine_command=self._engine_command,
            console=self._console,
        )

    def _read(self) -> list[Record]:
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=list[Record])
        except FileNotFoundError:
            return []
        except (OSError, msgspec.DecodeError) as error:
            self._console.line(
                f"  {self._file} cannot be read, so no added model is served: {error}"
            )
            return []

    def _keep(self) -> None:
        """Write the records where they have changed, at once."""
        records = [model.record for model in self._models.values()]
        if records == self._kept:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._file.with_name(f".{self._file.name}")
        temporary.write_bytes(msgspec.json.format(msgspec.json.encode(records)))
        temporary.rename(self._file)
        self._kept = records
