"""Adapters of the running model: read in a thread while steps go on, given to steps by number."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from inference.core import Chunk
from inference.errors import AdapterError
from inference.kernels.low_rank import AdaptedRows, Adapter
from inference.model.adapters import AdapterTargets
from inference.protocol import AdapterLoaded, LoadAdapter


@dataclass(frozen=True)
class _Loaded:
    adapter: Adapter
    key: str


class RunningAdapters:
    """Those that requests may name. Used by the core's thread alone, which no reading holds up."""

    def __init__(self, targets: AdapterTargets, max_loaded: int) -> None:
        self._targets = targets
        self._max_loaded = max_loaded
        self._loaded: dict[int, _Loaded] = {}
        self._reading: list[tuple[LoadAdapter, Future[tuple[Adapter, str]]]] = []
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="adapters")

    @property
    def is_reading(self) -> bool:
        return bool(self._reading)

    def load(self, message: LoadAdapter) -> None:
        """Begin to read an adapter; `finished` tells when it is there."""
        future = self._thread.submit(self._targets.load, Path(message.path))
        self._reading.append((message, future))

    def unload(self, adapter_id: int) -> None:
        """Free its memory, or forget that it was to be read. No request may have it any more; an
        unknown one is gone already."""
        self._reading = [each for each in self._reading if each[0].adapter_id != adapter_id]
        self._loaded.pop(adapter_id, None)

    def finished(self) -> list[AdapterLoaded]:
        """What became of adapters that were being read: from now on those can be named."""
        done = [each for each in self._reading if each[1].done()]
        self._reading = [each for each in self._reading if not each[1].done()]
        return [self._take(message.adapter_id, future) for message, future in done]

    def key(self, adapter_id: int) -> str:
        """What tells the adapter's content from any other's; "" for none.

        Raises:
            AdapterError: it is not loaded.
        """
        if not adapter_id:
            return ""
        if adapter_id not in self._loaded:
            raise AdapterError("the adapter is not loaded")
        return self._loaded[adapter_id].key

    def rows(self, chunks: Sequence[Chunk]) -> tuple[AdaptedRows, ...]:
        """The rows of a step that have one; `chunks` in the order of the batch."""
        found: list[AdaptedRows] = []
        begin = 0
        for chunk in chunks:
            end = begin + chunk.num_tokens
            if chunk.request.adapter_id:
                adapter = self._loaded[chunk.request.adapter_id].adapter
                if found and found[-1].adapter is adapter and found[-1].end == begin:
                    begin = found.pop().begin
                found.append(AdaptedRows(begin, end, adapter))
            begin = end
        return tuple(found)

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _take(self, adapter_id: int, future: Future[tuple[Adapter, str]]) -> AdapterLoaded:
        error = future.exception()
        if error is not None:
            return AdapterLoaded(adapter_id, error=str(error) or repr(error))
        if len(self._loaded) >= self._max_loaded:
            return AdapterLoaded(adapter_id, error=f"{self._max_loaded} adapters are loaded")
        adapter, key = future.result()
        self._loaded[adapter_id] = _Loaded(adapter, key)
        return AdapterLoaded(adapter_id, num_bytes=adapter.nbytes)
