"""`python -m inference.bench.one_thread --model PATH`: the model beside llama.cpp, one thread each.

In tokens a second of processor time: where other work runs on the machine this says more than the
clock. Both compute in turn: one stream, eight streams, a prompt of 256; ours at a context of 512,
llama.cpp's streams after 64 and 32 tokens.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from statistics import median

import torch

from inference.bench.peers.llama_cpp import LlamaCpp
from inference.bench.perplexity import decode_batch, prompt_batch
from inference.kernels.batch import Batch
from inference.model.build import build_decoder
from inference.model.files.open import open_weights
from inference.model.kv_memory import allocate_caches
from inference.quantization.precision import Precision

_STREAMS = 8
_SLOTS = _STREAMS * 528
_PROMPT = 256
_STEPS = 8
_ROUNDS = 3


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m inference.bench.one_thread", description=__doc__
    )
    parser.add_argument("--model", required=True, type=Path, help="a GGUF file")
    model: Path = parser.parse_args().model
    torch.set_num_threads(1)
    peer = LlamaCpp(model, threads=1, clock=time.thread_time)
    reader = open_weights(str(model))
    config, cpu = reader.config, torch.device("cpu")
    decoder = build_decoder(reader, torch.float32, cpu, Precision(int8_activations=True))
    caches = allocate_caches(_SLOTS, config, config.num_layers, torch.float16, cpu)

    def rate(batch: Batch, tokens: int, times: int) -> float:
        decoder(batch, caches)
        return tokens / median(seconds(batch) for _ in range(times))

    def seconds(batch: Batch) -> float:
        began = time.thread_time()
        decoder(batch, caches)
        return time.thread_time() - began

    tokens = torch.arange(_PROMPT) % config.vocab_size
    prompt = prompt_batch(tokens, tokens[:1])
    cases = {
        "decode, 1": (
            lambda: rate(decode_batch(1), 1, _STEPS),
            lambda: peer.decode_rate(1, 64, _STEPS),
        ),
        f"decode, {_STREAMS}": (
            lambda: rate(decode_batch(_STREAMS), _STREAMS, _STEPS),
            lambda: peer.decode_rate(_STREAMS, 32, _STEPS),
        ),
        f"prompt of {_PROMPT}": (
            lambda: rate(prompt, _PROMPT, 1),
            lambda: _PROMPT / peer.prefill_s(_PROMPT),
        ),
    }
    sys.stdout.write(f"{model.name}, load {os.getloadavg()[0]:.1f}\n\n")
    sys.stdout.write("| tokens/s | ours | llama.cpp | ratio |\n|---|--:|--:|--:|\n")
    peer.decode_rate(1, 16, 2)  # warm
    with torch.inference_mode():
        for name, (ours, theirs) in cases.items():
            pairs = [(ours(), theirs()) for _ in range(_ROUNDS)]
            mine, other = (median(pair[side] for pair in pairs) for side in (0, 1))
            ratio = median(pair[0] / pair[1] for pair in pairs)
            sys.stdout.write(f"| {name} | {mine:,.1f} | {other:,.1f} | {ratio:.2f} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
