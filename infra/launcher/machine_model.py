"""One model of this machine: fetched, checked, loaded when it is asked for, unloaded again.

    waiting -> fetching -> checking -> idle -> loading -> ready -> idle; stopped; declined

The fleet (fleet.py) decides when it is loaded and unloaded, and writes its pools file; here is what
those steps are. Every step can fail: it is `declined` then, says why, and nothing else is touched.
`tend()` is called from the thread that starts processes (supervisor.py).
"""

import json
import shlex
import signal
import subprocess
import threading
import time
from pathlib import Path

import httpx
import msgspec

from backend.platform.machine_models import MachineModel, State
from infra.launcher.acquire import SEATS, Found, Wanted
from infra.launcher.console import Console
from infra.launcher.resources import gigabytes
from infra.launcher.supervisor import Supervisor, in_background
from infra.services.ports import LOOPBACK, free_port
from infra.services.process import end_tree

_MAX_FAILED_STARTS = 2
_PROBE_SECONDS = 0.3


class Record(msgspec.Struct, frozen=True):
    """What is kept of a model between two runs.

    Attributes:
        sha256: what it had when it was added; "" while it is not there yet.
        is_brought: `make run` brings it: it can be stopped for good, and not be removed.
    """

    id: str
    name: str
    source: str
    license: str = ""
    notice: str = ""
    memory: int = 0
    max_model_len: int = 0
    sha256: str = ""
    is_default: bool = False
    is_stopped: bool = False
    is_brought: bool = False


class ManagedModel:
    """A record, and what has become of it in this run.

    Attributes:
        found: what was fetched, once it is checked.
        used_at, unloaded_at: when somebody last asked for it, or it was loaded, and when it was
            last unloaded; Unix time.
    """

    def __init__(
        self,
        record: Record,
        *,
        directory: Path,
        supervisor: Supervisor,
        engine_command: str,
        console: Console,
    ) -> None:
        self.record = record
        self.state: State = "stopped" if record.is_stopped else "waiting"
        self.detail = ""
        self.found: Found | None = None
        self.used_at = self.unloaded_at = 0.0
        self.engine_url = f"http://{LOOPBACK}:{free_port()}"
        self._directory = directory
        self._supervisor = supervisor
        self._engine_command = engine_command
        self._console = console
        self._fetching: subprocess.Popen[str] | None = None
        self._said: dict[str, object] = {}
        self._done = self._total = 0
        self._probed_at = 0.0
        self._pid: int | None = None

    @property
    def process(self) -> str:
        """The name of its engine among the processes."""
        return f"engine:{self.record.id}"

    @property
    def is_loaded(self) -> bool:
        """Whether its engine has memory."""
        return self.state in {"loading", "ready"}

    @property
    def memory(self) -> int:
        return self.found.memory if self.found else self.record.memory

    @property
    def total(self) -> int:
        """Bytes that are being fetched; 0 while that is not known."""
        return self._total

    def status(self) -> MachineModel:
        record = self.record
        return MachineModel(
            id=record.id,
            name=record.name,
            source=record.source,
            state=self.state,
            detail=self.detail[:1000],
            done_bytes=self._done,
            total_bytes=self._total or (self.found.size if self.found else 0),
            memory=self.memory,
            sha256=record.sha256,
            license=record.license,
            notice=record.notice,
            is_default=record.is_default,
        )

    def tend(self) -> None:
        """Look after the step that it is at; returns at once."""
        if self.state == "waiting":
            self._fetch()
        elif self.state in {"fetching", "checking"}:
            self._tend_fetching()
        elif self.is_loaded:
            self._tend_engine()

    def load(self) -> None:
        """Start its engine. There is memory for it, as far as the fleet knows."""
        assert self.found is not None
        found = self.found
        options = ["--served-model-name", self.record.id, "--max-num-seqs", str(SEATS)]
        options += ["--max-model-len", str(found.max_model_len)]
        if found.num_blocks:
            options += ["--num-blocks", str(found.num_blocks)]
        self.used_at, self._pid = time.time(), None
        self._to("loading")
        self._supervisor.add(
            self.process,
            # The small model's command; of an option given twice the last one counts.
            f"{self._engine_command} {shlex.join(options)}",
            PARLEY_MODEL_FILE=found.path,
            PARLEY_ENGINE_PORT=self.engine_url.rpartition(":")[2],
        )

    def unload(self) -> None:
        """End its engine; it is loaded again when it is asked for."""
        if self.is_loaded:
            self._supervisor.remove(self.process)
            self.unloaded_at = time.time()
            self._to("idle")

    def stop(self) -> None:
        """End what runs of it; it is served no more until it is started."""
        self.end()
        self.record = msgspec.structs.replace(self.record, is_stopped=True)
        self._to("stopped")

    def start(self) -> None:
        """Serve it again: fetched and checked anew where that had failed."""
        self.record = msgspec.structs.replace(self.record, is_stopped=False)
        if self.state in {"stopped", "declined"}:
            self._to("idle" if self.found else "waiting")

    def end(self) -> None:
        """End its processes; what was fetched stays."""
        if self._fetching is not None and self._fetching.poll() is None:
            end_tree(self._fetching.pid, stop_signal=signal.SIGKILL)
        self._fetching = None
        self.unload()

    def decline(self, reason: str) -> None:
        """It is not served; the product goes on with what it has."""
        self.end()
        self._console.line(f"  The model {self.record.id} is not served: {reason}.")
        self._to("declined", reason)

    def _to(self, state: State, detail: str = "") -> None:
        self.state, self.detail = state, detail

    def _fetch(self) -> None:
        record = self.record
        wanted = Wanted(
            record.source,
            str(self._directory),
            record.sha256,
            record.memory,
            record.max_model_len,
        )
        self._said = {}
        self._fetching = _start_fetching(wanted)
        threading.Thread(target=self._read, args=(self._fetching,), daemon=True).start()
        self._to("fetching")

    def _read(self, process: "subprocess.Popen[str]") -> None:
        """What the fetching process says, as it says it; its last line before its end is known."""
        assert process.stdout is not None
        for line in process.stdout:
            try:
                self._said = dict(json.loads(line))
            except ValueError:
                continue
        self._said = {**self._said, "ended": process.wait()}

    def _tend_fetching(self) -> None:
        said = self._said
        if "ended" in said:
            self._after_fetching(said)
        elif said.get("state") == "checking":
            self._to("checking")
        elif said.get("state") == "fetching":
            self._done = int(str(said["done"]))
            self._total = max(self._done, int(str(said["total"]))) if said["total"] else 0

    def _after_fetching(self, said: dict[str, object]) -> None:
        self._fetching = None
        if said.get("state") == "done":
            self.found = msgspec.convert(said["found"], Found)
            self._done = self._total = self.found.size
            self.record = msgspec.structs.replace(
                self.record,
                sha256=self.found.sha256,
                license=self.record.license or plain(self.found.license),
            )
            self._to("idle")
            self._console.line(
                f"  The model {self.record.id} is there: {gigabytes(self.found.size)},"
                f" {gigabytes(self.memory)} of memory, SHA-256 {self.found.sha256},"
                f" license {self.record.license or 'not known'}"
            )
        elif said.get("state") == "failed":
            self.decline(str(said.get("reason")))
        else:
            self.decline("the process that fetched it was ended; start it again to go on")

    def _tend_engine(self) -> None:
        if self._supervisor.ends_in_a_row(self.process) > _MAX_FAILED_STARTS:
            how = self._supervisor.last_end(self.process)
            self.decline(f"its engine ended again and again ({how}); its log is above")
        elif self.state == "loading" and self._is_ready():
            self._pid = self._supervisor.pid(self.process)
            self._to("ready")
        elif self.state == "ready" and self._supervisor.pid(self.process) != self._pid:
            self._to("loading")

    def _is_ready(self) -> bool:
        if time.monotonic() - self._probed_at < _PROBE_SECONDS:
            return False
        self._probed_at = time.monotonic()
        try:
            return httpx.get(f"{self.engine_url}/ready", timeout=1).status_code == 200
        except httpx.HTTPError:
            return False


def _start_fetching(wanted: Wanted) -> "subprocess.Popen[str]":
    return in_background("infra.launcher.acquire", msgspec.json.encode(wanted).decode())


def plain(text: str) -> str:
    """A text of a model, as it may stand in a pools file: one line, and nothing that is replaced
    from the environment there."""
    return "".join(c for c in text if c.isprintable() and c not in '$"\\')[:200].strip()
