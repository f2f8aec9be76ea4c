"""transformers' continuous batching (`generate_batch`, paged attention)."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import torch

from inference.bench.peers.transformers_static import load

_PAGE = 256


class TransformersContinuous:
    def __init__(self, model: Path) -> None:
        logging.getLogger("ContinuousBatchingLogger").setLevel(logging.ERROR)
        self._model = load(model, attn_implementation="sdpa")

    def prefill_s(self, tokens: int) -> float:
        return self._timed(1, tokens, 1)

    def decode_rate(self, streams: int, context: int, steps: int) -> float:
        first = self._timed(streams, context, 1)
        whole = self._timed(streams, context, 1 + steps)
        return streams * steps / max(whole - first, 1e-9)

    def _timed(self, streams: int, prompt: int, output: int) -> float:
        from transformers import ContinuousBatchingConfig, GenerationConfig

        ids = torch.randint(100, self._model.config.vocab_size, (streams, prompt)).tolist()
        pages = streams * (-(-(prompt + output) // _PAGE) + 1)
        began = time.perf_counter()
        answers = self._model.generate_batch(
            ids,
            generation_config=GenerationConfig(
                max_new_tokens=output, do_sample=False, eos_token_id=-1, pad_token_id=0
            ),
            continuous_batching_config=ContinuousBatchingConfig(
                page_size=_PAGE,
                num_blocks=pages,
                max_batch_tokens=1024,
                max_requests_per_batch=streams,
                use_cuda_graph=False,
                use_async_batching=False,
            ),
            warmup=False,
        )
        took = time.perf_counter() - began
        generated = sum(len(answer.generated_tokens) for answer in answers.values())
        if generated != streams * output:
            raise RuntimeError(f"{generated} tokens came of {streams} x {output}")
        return took
