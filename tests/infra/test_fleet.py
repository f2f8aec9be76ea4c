"""Added models: fetched and looked at for real, with stand-ins for their engines, which say at once
that they are ready. Served by the product: tests/e2e/test_better_model.py."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest

from backend.generation.pools.config import read_pools
from backend.platform.machine_models import Action, Command, command_write
from infra.launcher import machine_model
from infra.launcher.acquire import Wanted
from infra.launcher.console import Console
from infra.launcher.fleet import BUDGET_VARIABLE, Fleet
from infra.launcher.fleet_pools import FleetPools
from infra.launcher.supervisor import Supervisor
from tests.inference.tiny import make_tiny_model
from tests.support.forkserver import fork

ENGINE = f"{sys.executable} -m tests.infra.ready_engine"
BUDGET = {BUDGET_VARIABLE: "1GB"}


class Machine:
    """A fleet without the rest of the launcher. What is asked of it is written as others do."""

    def __init__(self, var: Path) -> None:
        self.var = var
        self.pools = var / "run" / "pools"
        self.pools.mkdir(parents=True, exist_ok=True)
        self._supervisor = Supervisor(os.environ, Console())
        pools = FleetPools(self.pools, var / "models")
        self.fleet = Fleet(
            var,
            pools=pools,
            supervisor=self._supervisor,
            engine_command=ENGINE,
            console=Console(),
            environment=BUDGET,
        )

    def ask(self, action: Action, model: str, **fields: Any) -> None:
        command_write(self.var, Command(action, model, **fields))

    def states(self) -> dict[str, str]:
        return {model.id: model.state for model in self.fleet.statuses()}

    def detail(self, model: str) -> str:
        return next(one.detail for one in self.fleet.statuses() if one.id == model)

    def until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 120
        while not condition():
            assert time.monotonic() < deadline, self.fleet.statuses()
            self._supervisor.tend()
            self.fleet.tend()
            time.sleep(0.05)

    def used(self, **ago: float) -> None:
        """As the web processes say: so many seconds ago."""
        self.fleet.asked({name: time.time() - seconds for name, seconds in ago.items()})

    def stop(self) -> None:
        self.fleet.stop()
        self._supervisor.stop(())


class ForkedFetch:
    """With what a fleet asks of a process that fetches for it."""

    def __init__(self, wanted: Wanted) -> None:
        said, output = os.pipe()
        command = ("python", "-m", "infra.launcher.acquire", msgspec.json.encode(wanted).decode())
        with os.fdopen(output, "wb") as writing:
            self._process = fork(command, environment=os.environ, output=writing, kind="engine")
        self.stdout = os.fdopen(said)
        self.pid, self.poll, self.wait = self._process.pid, self._process.poll, self._process.wait


@pytest.fixture
def forked_fetches(monkeypatch: pytest.MonkeyPatch) -> None:
    """From a process that has torch. The other test starts them as a launcher does."""
    monkeypatch.setattr(machine_model, "_start_fetching", ForkedFetch)


@pytest.fixture(scope="module")
def tiny(scratch: Path) -> Path:
    return make_tiny_model(scratch / "tiny-for-fleet")


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], Machine]]:
    machines: list[Machine] = []

    def begin() -> Machine:
        machines.append(Machine(tmp_path))
        return machines[-1]

    yield begin
    for machine in machines:
        machine.stop()


@pytest.mark.usefixtures("forked_fetches")
def test_least_recently_used_model_is_unloaded_for_another_and_never_one_in_use(
    start: Callable[[], Machine], tiny: Path
) -> None:
    machine = start()
    # Nothing of a name is taken from the environment, though pools files do that.
    name = 'Model "A" ${PATH} \n\\'
    for model in ("a", "b"):
        machine.ask("add", model, source=str(tiny), name=name, memory=600_000_000)
    machine.until(lambda: machine.states().keys() == {"a", "b"})
    machine.until(lambda: sorted(machine.states().values()) == ["idle", "ready"])
    [loaded] = [model for model, state in machine.states().items() if state == "ready"]
    [waiting] = {"a", "b"} - {loaded}
    pools = read_pools(machine.pools, {})
    assert {(pool.id, pool.name) for pool in pools.models} == {
        ("a", "Model A {PATH}"),
        ("b", "Model A {PATH}"),
    }
    assert all(pool.on_demand and "chat" in pool.capabilities for pool in pools.models)

    # Until long after this test has seen that it is left alone, on however slow a machine.
    machine.used(**{loaded: -600.0})
    machine.until(
        lambda: "0.4 GB are left beside models that are in use" in machine.detail(waiting)
    )
    assert machine.states()[loaded] == "ready"
    machine.fleet._models[loaded].used_at = 0
    machine.used(**{loaded: 60.0, waiting: 0.0})
    machine.until(lambda: machine.states() == {loaded: "idle", waiting: "ready"})

    machine.ask("stop", waiting)
    machine.until(lambda: machine.states()[waiting] == "stopped")
    assert {pool.id for pool in read_pools(machine.pools, {}).models} == {loaded}
    machine.stop()
    again = start()
    again.until(lambda: again.states() == {loaded: "idle", waiting: "stopped"})


@pytest.mark.usefixtures("forked_fetches")
def test_model_that_has_changed_is_declined_until_it_is_added_again(
    start: Callable[[], Machine], tmp_path: Path, tiny: Path
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    for file in tiny.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    machine = start()
    machine.ask("add", "mine", source=str(folder), memory=1)
    machine.until(lambda: machine.states().get("mine") == "ready")
    machine.stop()
    with (folder / "model.safetensors").open("r+b") as weights:
        weights.seek(-1, os.SEEK_END)
        weights.write(b"!")
    again = start()
    again.until(lambda: again.states()["mine"] == "declined")
    assert "it has changed or is damaged" in again.detail("mine")
    again.until(lambda: not list(again.pools.glob("*.toml")))
    assert (folder / "model.safetensors").exists()


def test_killed_fetch_is_reported_and_begun_again(start: Callable[[], Machine], tiny: Path) -> None:
    machine = start()
    machine.ask("add", "big", source=str(tiny), memory=2_000_000_000)
    machine.until(lambda: machine.states().get("big") == "fetching")
    [fetching] = [
        child
        for child in psutil.Process().children()
        if "infra.launcher.acquire" in child.cmdline()
    ]
    fetching.kill()
    machine.until(lambda: machine.states()["big"] == "declined")
    assert "start it again to go on" in machine.detail("big")
    machine.ask("start", "big")
    machine.until(lambda: "GB of memory" in machine.detail("big"))
    assert machine.detail("big") == (
        "it needs 2.0 GB of memory, and 1.0 GB of PARLEY_MODEL_MEMORY are free"
    )
    (machine.var / "models" / "commands" / "x.json").write_text("{}")
    machine.ask("remove", "big")
    machine.until(lambda: machine.states() == {})
