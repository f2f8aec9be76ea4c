"""OpenVINO GenAI's continuous batching, from the same GGUF file, which it makes a graph of its own.

Its defaults for the processor: weights as it reads them, activations in bfloat16 where there are
instructions for it, keys and values in eight bits.
"""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import numpy as np

_CACHE_GB = 2
_BATCH = 2048
_VOCABULARY = 40_000
"""Prompts are of token ids below it."""


class OpenVino:
    def __init__(self, model: Path) -> None:
        import openvino
        import openvino_genai

        self._tensor: Any = openvino.Tensor
        self._config: Any = openvino_genai.GenerationConfig
        scheduler = openvino_genai.SchedulerConfig()
        scheduler.cache_size = _CACHE_GB
        scheduler.max_num_batched_tokens = _BATCH
        scheduler.enable_prefix_caching = False
        self._pipeline: Any = openvino_genai.ContinuousBatchingPipeline(
            str(model), scheduler, "CPU"
        )
        self._asked = 0

    def prefill_s(self, tokens: int) -> float:
        began = time.perf_counter()
        handle = self._ask(tokens, 1)
        self._step_until([handle])
        took = time.perf_counter() - began
        self._finish()
        return took

    def decode_rate(self, streams: int, context: int, steps: int) -> float:
        # The first streams decode while the last prompts are read: all are to run to the end.
        handles = [self._ask(context, 1 + steps + streams) for _ in range(streams)]
        self._step_until(handles)
        began = time.perf_counter()
        for _ in range(steps):
            self._pipeline.step()
        rate = streams * steps / (time.perf_counter() - began)
        self._finish()
        return rate

    def _ask(self, tokens: int, output: int) -> Any:
        ids = [[random.randrange(100, _VOCABULARY) for _ in range(tokens)]]
        config = self._config(max_new_tokens=output, ignore_eos=True, do_sample=False)
        self._asked += 1
        return self._pipeline.add_request(self._asked, self._tensor(np.array(ids)), config)

    def _step_until(self, handles: list[Any]) -> None:
        """Until each has given its first token."""
        while not all(handle.can_read() for handle in handles):
            self._pipeline.step()

    def _finish(self) -> None:
        while self._pipeline.has_non_finished_requests():
            self._pipeline.step()
