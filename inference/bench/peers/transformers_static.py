"""transformers' `generate` on a batch of equal prompts."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor


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
        began = time.perf_counter()
        return self._moments(1, tokens, 1)[0] - began

    def decode_rate(self, streams: int, context: int, steps: int) -> float:
        moments = self._moments(streams, context, 1 + steps)
        return streams * steps / (moments[-1] - moments[0])

    def _moments(self, streams: int, prompt: int, output: int) -> list[float]:
        """When each token was there, on the clock of `time.perf_counter`: one run tells, where the
        difference of two would be lost in the noise of their prompts."""
        ids = torch.randint(100, self._model.config.vocab_size, (streams, prompt))
        moments: list[float] = []

        def never_stop(ids: Tensor, _: object, **__: object) -> Tensor:
            moments.append(time.perf_counter())
            return torch.zeros(len(ids), dtype=torch.bool)

        self._model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=output,
            min_new_tokens=output,
            do_sample=False,
            pad_token_id=0,
            stopping_criteria=[never_stop],
        )
        return moments
