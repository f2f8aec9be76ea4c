"""vLLM's build for processors, in an environment of its own (`make bench-vllm`): it wants other
versions of our packages. It reads no GGUF, so it is given the file's numbers as a folder in
bfloat16 (`bf16_folder.py`), and computes from that.

Without compiling (`enforce_eager`), which its wheel has no Triton for.
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import Any

_CACHE_GB = "2"
_MAX_LENGTH = 2048
_VOCABULARY = 40_000
"""Prompts are of token ids below it."""


class VllmCpu:
    def __init__(self, model: Path) -> None:
        os.environ["VLLM_CPU_KVCACHE_SPACE"] = _CACHE_GB
        os.environ["VLLM_CPU_OMP_THREADS_BIND"] = f"0-{(os.cpu_count() or 1) - 1}"
        # Steps are taken here, one after another, to time them.
        os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
        import vllm

        self._params: Any = vllm.SamplingParams
        self._engine: Any = vllm.LLM(
            model=str(model),
            max_model_len=_MAX_LENGTH,
            enforce_eager=True,
            enable_prefix_caching=False,
            async_scheduling=False,
        ).llm_engine
        self._asked = 0

    def prefill_s(self, tokens: int) -> float:
        began = time.perf_counter()
        self._step_until({self._ask(tokens, 1)})
        took = time.perf_counter() - began
        self._finish()
        return took

    def decode_rate(self, streams: int, context: int, steps: int) -> float:
        # The first streams decode while the last prompts are read: all are to run to the end.
        self._step_until({self._ask(context, 1 + steps + streams) for _ in range(streams)})
        began = time.perf_counter()
        for _ in range(steps):
            self._engine.step()
        rate = streams * steps / (time.perf_counter() - began)
        self._finish()
        return rate

    def _ask(self, tokens: int, output: int) -> str:
        ids = [random.randrange(100, _VOCABULARY) for _ in range(tokens)]
        self._asked += 1
        params = self._params(temperature=0.0, max_tokens=output, ignore_eos=True)
        self._engine.add_request(str(self._asked), {"prompt_token_ids": ids}, params)
        return str(self._asked)

    def _step_until(self, waiting: set[str]) -> None:
        """Until each has given its first token."""
        while waiting:
            waiting -= {output.request_id for output in self._engine.step()}

    def _finish(self) -> None:
        while self._engine.has_unfinished_requests():
            self._engine.step()
