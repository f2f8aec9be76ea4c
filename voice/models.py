"""The models of one server: loaded when they are asked for, unloaded when nobody did for a while.

Each has one thread, and what it computes is a job there; so requests take turns job by job.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

from voice.errors import VoiceError
from voice.weights import PIPER, WHISPER, Weights

Model = TypeVar("Model")
_LOOK_S = 10.0


class OnDemand(Generic[Model]):
    """One model, and the thread that it computes in.

    Args:
        load: makes it, in that thread.
        idle_s: how long it stays loaded after its last use.
    """

    def __init__(
        self, weights: Weights, models: Path, load: Callable[[Path], Model], *, idle_s: float
    ) -> None:
        self.weights = weights
        self._models = models
        self._load = load
        self._idle_s = idle_s
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=weights.id)
        self._model: Model | None = None
        self._users = 0
        self._used_at = 0.0

    @property
    def is_there(self) -> bool:
        return self.weights.is_complete(self._models)

    async def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call `function` in the model's thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *args)

    @asynccontextmanager
    async def in_use(self) -> AsyncIterator[Model]:
        """The model, loaded.

        Raises:
            VoiceError: its files are not there.
        """
        if not self.is_there:
            raise VoiceError(
                f"The files of {self.weights.id} are not there: `make voice` fetches them.",
                param="model",
                status=503,
            )
        self._users += 1
        try:
            yield await self.run(self._loaded)
        finally:
            self._users -= 1
            self._used_at = time.monotonic()

    def unload_if_idle(self) -> None:
        if self._users == 0 and time.monotonic() - self._used_at > self._idle_s:
            self._model = None

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _loaded(self) -> Model:
        if self._model is None:
            self._model = self._load(self._models / self.weights.id)
        return self._model


class Models:
    """What this server can do."""

    def __init__(self, whisper: OnDemand[Any], speaker: OnDemand[Any]) -> None:
        self.whisper = whisper
        self.speaker = speaker

    @property
    def all(self) -> tuple[OnDemand[Any], ...]:
        return (self.whisper, self.speaker)

    async def tend(self) -> None:
        """For ever: unload what nobody uses."""
        while True:
            await asyncio.sleep(_LOOK_S)
            for model in self.all:
                model.unload_if_idle()

    def close(self) -> None:
        for model in self.all:
            model.close()


def fetched_models(models: Path, *, threads: int, idle_s: float) -> Models:
    """Those that `fetch` brings.

    Args:
        models: the directory that it fills.
        threads: of one model's computing.
    """

    def whisper(directory: Path) -> Any:
        from voice.activity import SpeechDetector
        from voice.whisper import Whisper

        return Whisper(directory, threads=threads), SpeechDetector(directory / "vad.onnx")

    def speaker(directory: Path) -> Any:
        from voice.speaker import Speaker

        return Speaker(directory / "voice.onnx", threads=threads)

    return Models(
        OnDemand(WHISPER, models, whisper, idle_s=idle_s),
        OnDemand(PIPER, models, speaker, idle_s=idle_s),
    )
