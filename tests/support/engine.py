"""A real engine with the default model, as a process of its own."""

import shlex
import time
from collections.abc import Mapping
from pathlib import Path

import httpx

from inference.model.gguf_format import GGUFFile
from infra.launcher import procfile
from infra.launcher.model import MODEL_ID
from infra.services.ports import free_port
from tests.support.processes import ProductProcess

_START_TIMEOUT_SECONDS = 120.0
ENGINE_KEY = "engine-key-of-the-tests"
ENGINE_HEADERS = {"Authorization": f"Bearer {ENGINE_KEY}"}


class EngineDidNotStart(RuntimeError):
    """The engine ended or was not ready in time; the message holds its last log lines."""


_PROGRAM, _FORKED = "python -m inference ", "python -m tests.inference.forked_engine "
_THINKS = (
    "{% if add_generation_prompt and enable_thinking is defined and enable_thinking %}"
    "{{ '<think>\n' }}{% endif %}"
)


class Engine:
    """`python -m inference serve` as the Procfile starts it, on a free port, but forked from a
    process that has torch. Its chat template is the model's own, with a switch for thoughts, which
    is off."""

    model = MODEL_ID

    def __init__(self, model_file: Path, directory: Path, options: str = "") -> None:
        """
        Args:
            options: further words of its command line.
        """
        self._model_file = model_file
        self._options = options
        self._process: ProductProcess | None = None
        self.port = free_port()
        self.log = directory / f"engine-{self.port}.log"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None, "the engine has not been started"
        return self._process.pid

    def start(self, environment: Mapping[str, str]) -> None:
        """Start it and wait until it accepts work (`/ready`)."""
        variables = {
            **environment,
            "PARLEY_MODEL_FILE": str(self._model_file),
            "PARLEY_ENGINE_PORT": str(self.port),
            "PARLEY_ENGINE_API_KEY": ENGINE_KEY,
        }
        template = self.log.with_suffix(".jinja")
        own = GGUFFile(self._model_file).metadata["tokenizer.chat_template"]
        template.write_text(f"{own}{_THINKS}")
        engine = procfile.read()["engine"].replace(_PROGRAM, _FORKED, 1)
        command = f"{engine} --chat-template {shlex.quote(str(template))} {self._options}"
        self._process = ProductProcess("engine", command, variables, self.log, kind="engine")
        self._process.start()
        deadline = time.monotonic() + _START_TIMEOUT_SECONDS
        while not self._ready():
            if not self._process.is_running or time.monotonic() > deadline:
                self.stop()
                raise EngineDidNotStart(self._process.last_words)
            time.sleep(0.1)

    def stop(self) -> None:
        if self._process is not None:
            self._process.stop()

    def _ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/ready", timeout=2).status_code == 200
        except httpx.HTTPError:
            return False
