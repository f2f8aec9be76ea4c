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
        began = time.perf_counter()
        return self._moments(1, tokens, 1)[0][0] - began

    def decode_rate(self, streams: int, context: int, steps: int) -> float:
        moments = self._moments(streams, context, 1 + steps)
        all_run = max(of_stream[0] for of_stream in moments)
        later = [moment for of_stream in moments for moment in of_stream if moment > all_run]
        return len(later) / (max(later) - all_run)

    def _moments(self, streams: int, prompt: int, output: int) -> list[list[float]]:
        """When each token of each stream was there, on the clock of `time.perf_counter`."""
        from transformers import ContinuousBatchingConfig, GenerationConfig

        ids = torch.randint(100, self._model.config.vocab_size, (streams, prompt)).tolist()
        pages = streams * (-(-(prompt + output) // _PAGE) + 1)
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
            record_timestamps=True,
        )
        moments = [list(answer.timestamps or ()) for answer in answers.values()]
        if [len(of_stream) for of_stream in moments] != [output] * streams:
            raise RuntimeError(f"{sum(map(len, moments))} tokens came of {streams} x {output}")
        return moments
