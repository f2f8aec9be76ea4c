"""llama.cpp through llama-cpp-python's low-level interface, with its own batches.

The package's server computes one request at a time; several sequences in one batch, as
llama.cpp's own server decodes them, are the fairer rival.
"""

from __future__ import annotations

import ctypes
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

_BATCH = 2048


class LlamaCpp:
    def __init__(
        self,
        model: Path,
        threads: int | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`threads`: None means one a core."""
        import llama_cpp

        self._threads, self._clock = threads or os.cpu_count() or 1, clock
        self._lib: Any = llama_cpp
        self._lib.llama_log_set(_SILENT, ctypes.c_void_p(0))
        self._lib.llama_backend_init()
        params = self._lib.llama_model_default_params()
        if _has_amx():  # its buffers for AMX end the process (0.3.36, GCC 12)
            params.use_extra_bufts = False
        self._model = self._lib.llama_model_load_from_file(str(model).encode(), params)
        if not self._model:
            raise RuntimeError(f"llama.cpp cannot load {model}")
        vocab = self._lib.llama_model_get_vocab(self._model)
        self._vocab = self._lib.llama_vocab_n_tokens(vocab)

    def prefill_s(self, tokens: int) -> float:
        context = self._context(1, tokens + 1)
        try:
            began = self._clock()
            self._compute(context, [(0, 0, self._prompt(tokens))])
            self._argmax(context, -1)
            return self._clock() - began
        finally:
            self._lib.llama_free(context)

    def decode_rate(self, streams: int, context: int, steps: int) -> float:
        state = self._context(streams, context + steps + 1)
        try:
            last = []
            for stream in range(streams):
                self._compute(state, [(stream, 0, self._prompt(context))])
                last.append(self._argmax(state, -1))
            began = self._clock()
            for step in range(steps):
                parts = [(s, context + step, [token]) for s, token in enumerate(last)]
                self._compute(state, parts)
                last = [self._argmax(state, row) for row in range(streams)]
            return streams * steps / (self._clock() - began)
        finally:
            self._lib.llama_free(state)

    def _context(self, streams: int, length: int) -> Any:
        params = self._lib.llama_context_default_params()
        params.n_ctx = streams * -(-length // 256) * 256
        params.n_seq_max = streams
        params.n_batch = _BATCH
        params.n_threads = params.n_threads_batch = self._threads
        return self._lib.llama_init_from_model(self._model, params)

    def _compute(self, context: Any, parts: list[tuple[int, int, list[int]]]) -> None:
        """Parts are (sequence, position of the first token, tokens); logits of each's last."""
        total = sum(len(tokens) for _, _, tokens in parts)
        batch = self._lib.llama_batch_init(total, 0, 1)
        try:
            at = 0
            for sequence, position, tokens in parts:
                for offset, token in enumerate(tokens):
                    batch.token[at] = token
                    batch.pos[at] = position + offset
                    batch.n_seq_id[at] = 1
                    batch.seq_id[at][0] = sequence
                    batch.logits[at] = offset + 1 == len(tokens)
                    at += 1
            batch.n_tokens = total
            if status := self._lib.llama_decode(context, batch):
                raise RuntimeError(f"llama_decode answered {status}")
        finally:
            self._lib.llama_batch_free(batch)

    def _argmax(self, context: Any, row: int) -> int:
        """The best token after the batch's token `row`; -1 is its last."""
        logits = self._lib.llama_get_logits_ith(context, row)
        return int(np.ctypeslib.as_array(logits, shape=(self._vocab,)).argmax())

    def _prompt(self, length: int) -> list[int]:
        return [random.randrange(100, self._vocab) for _ in range(length)]


def _has_amx() -> bool:
    info = Path("/proc/cpuinfo")
    return info.exists() and "amx_int8" in info.read_text()


@ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
def _SILENT(level: int, text: bytes, data: int | None) -> None:
    """llama.cpp writes hundreds of lines while it loads."""
