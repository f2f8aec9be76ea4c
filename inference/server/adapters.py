"""Adapters that clients may name: `base:adapter`, beside the base model in the same batches.

More may be named than are in memory: of those that no request uses, the least recently used makes
room, and is read again when it is asked for.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from inference.engine.client import EngineClient
from inference.errors import (
    AdapterInUseError,
    InvalidRequestError,
    ModelNotFoundError,
    QueueFullError,
)
from inference.server.http import json_response, read_body

MAX_ADAPTERS = 64
"""That may be named: a registry's record holds no more."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_RETRY_AFTER_S = 2


@dataclass(eq=False)
class _Named:
    name: str
    path: str
    created: int
    adapter_id: int = 0
    """By which the core knows it; another each time it is loaded."""
    loaded_by: int | None = None
    """Which core, by how many there were before; None: not loaded."""
    requests: int = 0
    used_at: float = 0.0


@dataclass
class Adapters:
    """The adapters of one engine.

    Attributes:
        base: the model's name.
        max_loaded: how many are in memory at once; 0: the engine takes none.
    """

    engine: EngineClient
    base: str
    max_loaded: int
    _named: dict[str, _Named] = field(default_factory=dict)
    _leaving: set[_Named] = field(default_factory=set)
    """No longer named, and still used by requests."""
    _ids: int = 0
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def names(self) -> list[str]:
        return sorted(self._named)

    def created(self, name: str) -> int:
        """When it was first loaded, in seconds."""
        return self._named[name].created

    def model_name(self, name: str) -> str:
        """What clients call the model with this adapter; "" is the model alone."""
        return f"{self.base}:{name}" if name else self.base

    def find(self, model: str | None) -> str:
        """The adapter that a model's name asks for; "" for the model alone.

        Raises:
            ModelNotFoundError: there is no such model here.
        """
        if model is None or model == self.base:
            return ""
        base, _, name = model.partition(":")
        if base == self.base and name in self._named:
            return name
        served = ", ".join(repr(self.model_name(one)) for one in ["", *self.names])
        raise ModelNotFoundError(
            f"the model {model!r} is not served here; served: {served}", param="model"
        )

    async def load(self, name: str, path: str) -> None:
        """Read an adapter and name it.

        Raises:
            InvalidRequestError, AdapterError: it cannot be named so, or not be used.
            AdapterInUseError: the name is taken, or as many are named as may be.
            QueueFullError: as many are used as fit.
        """
        if not self.max_loaded:
            raise InvalidRequestError("this engine takes no adapters: start it with --enable-lora")
        name = name.removeprefix(f"{self.base}:")
        if not _NAME.fullmatch(name):
            raise InvalidRequestError(
                "a name has up to 64 letters, digits, dots, dashes and underscores",
                param="lora_name",
            )
        async with self._lock:
            if name in self._named:
                raise AdapterInUseError(
                    f"an adapter {name!r} is loaded: unload it first", param="lora_name"
                )
            if len(self._named) >= MAX_ADAPTERS:
                raise AdapterInUseError(f"{MAX_ADAPTERS} adapters are named: unload one first")
            named = _Named(name, path, int(time.time()))
            await self._bring(named)
            self._named[name] = named

    def unload(self, name: str) -> int:
        """Forget a name at once; its memory is freed when the last request that has it has ended.

        Returns how many requests still do.

        Raises:
            ModelNotFoundError: there is none of that name.
        """
        named = self._named.pop(name.removeprefix(f"{self.base}:"), None)
        if named is None:
            raise ModelNotFoundError(f"no adapter {name!r} is loaded", param="lora_name")
        self._leaving.add(named)
        self._free_left(named)
        return named.requests

    @asynccontextmanager
    async def using(self, name: str) -> AsyncIterator[int]:
        """Keep an adapter in memory; its number for the core, 0 for "".

        Raises:
            ModelNotFoundError, AdapterError, QueueFullError, EngineDeadError
        """
        if not name:
            yield 0
            return
        named = self._named.get(name)
        if named is None:
            raise ModelNotFoundError(f"no adapter {name!r} is loaded", param="model")
        named.requests += 1
        try:
            if not self._is_loaded(named):
                async with self._lock:
                    await self._bring(named)
            yield named.adapter_id
        finally:
            named.requests -= 1
            named.used_at = time.monotonic()
            self._free_left(named)

    async def ready(self, name: str) -> None:
        """Have an adapter in memory, so that what fails does so before an answer begins.

        Raises:
            as `using`
        """
        async with self.using(name):
            return

    def _is_loaded(self, named: _Named) -> bool:
        return named.loaded_by is not None and named.loaded_by == self.engine.restarts

    async def _bring(self, named: _Named) -> None:
        """Load it, in another's place where all are taken; the lock is held."""
        if self._is_loaded(named):
            return
        loaded = [one for one in {*self._named.values(), *self._leaving} if self._is_loaded(one)]
        if len(loaded) >= self.max_loaded:
            idle = [one for one in loaded if not one.requests]
            if not idle:
                raise QueueFullError(
                    f"all of {self.max_loaded} adapters in memory are used by requests",
                    retry_after_s=_RETRY_AFTER_S,
                )
            self._drop(min(idle, key=lambda one: one.used_at))
        core = self.engine.restarts
        self._ids += 1
        loaded_id = self._ids
        try:
            await self.engine.load_adapter(loaded_id, named.path)
        except asyncio.CancelledError:
            self.engine.unload_adapter(loaded_id)  # its client went meanwhile
            raise
        named.adapter_id, named.loaded_by, named.used_at = loaded_id, core, time.monotonic()

    def _drop(self, named: _Named) -> None:
        self.engine.unload_adapter(named.adapter_id)
        named.loaded_by = None

    def _free_left(self, named: _Named) -> None:
        if named in self._leaving and not named.requests:
            self._leaving.discard(named)
            self._drop(named)


class LoadBody(msgspec.Struct, forbid_unknown_fields=True):
    """As vLLM has it. `lora_path`: a folder on the engine's machine."""

    lora_name: Annotated[str, Meta(min_length=1, max_length=200)]
    lora_path: Annotated[str, Meta(min_length=1, max_length=4096)]


class UnloadBody(msgspec.Struct, forbid_unknown_fields=True):
    lora_name: Annotated[str, Meta(min_length=1, max_length=200)]


async def load_adapter(request: Request) -> Response:
    """POST /v1/load_lora_adapter."""
    adapters: Adapters = request.app.state.server.adapters
    body = await read_body(request, LoadBody)
    await adapters.load(body.lora_name, body.lora_path)
    name = body.lora_name.removeprefix(f"{adapters.base}:")
    return json_response({"loaded": adapters.model_name(name)}, headers=request.state.headers)


async def unload_adapter(request: Request) -> Response:
    """POST /v1/unload_lora_adapter."""
    adapters: Adapters = request.app.state.server.adapters
    body = await read_body(request, UnloadBody)
    running = adapters.unload(body.lora_name)
    name = body.lora_name.removeprefix(f"{adapters.base}:")
    answer = {"unloaded": adapters.model_name(name), "running": running}
    return json_response(answer, headers=request.state.headers)
