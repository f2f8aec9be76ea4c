"""transformers' `generate` on a batch of equal prompts."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import torch


def load(model: Path, **options: Any) -> Any:
    """The model in float32; GGUF files are dequantized by transformers."""
    from transformers import AutoModelForCausalLM

    if model.is_file():
        options |= {"gguf_file": model.name}
        model = model.parent
    return AutoModelForCausalLM.from_pretrained(str(model), dtype=torch.float32, **options).eval()


class TransformersStatic:
    def __init__(self, model: Path) -> None:
        self._model = load(model)

    def prefill_s(self, tokens: int) -> float:
        return self._timed(1, tokens, 1)

    def decode_rate(self, streams: int, context: int, steps: int) -> float:
        first = self._timed(streams, context, 1)
        whole = self._timed(streams, context, 1 + steps)
        return streams * steps / max(whole - first, 1e-9)

    def _timed(self, streams: int, prompt: int, output: int) -> float:
        ids = torch.randint(100, self._model.config.vocab_size, (streams, prompt))
        began = time.perf_counter()
        self._model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=output,
            min_new_tokens=output,
            do_sample=False,
            pad_token_id=0,
        )
        return time.perf_counter() - began
