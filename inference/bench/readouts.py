"""`python -m inference.bench.readouts --model PATH`: what readouts cost.

Steps with and without them take turns, in one process on the same weights: decode of one and of
eight streams at a context of 512, and a prompt of 512 tokens; the median of the ratios of times.
With `--threads 1` of processor time, which other work on the machine disturbs least. The last
column compares two models without readouts: so far are the figures to be trusted.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from statistics import median

import torch

from inference.bench.perplexity import decode_batch, prompt_batch
from inference.kernels.batch import Batch
from inference.model.build import build_decoder
from inference.model.decoder import Decoder
from inference.model.files.open import open_weights
from inference.model.kv_memory import allocate_caches
from inference.model.readout import Readout
from inference.quantization.precision import Precision

_READOUTS = 4
_ROUNDS = 31
_SLOTS = 8 * 528
_PROMPT = 512


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m inference.bench.readouts", description=__doc__)
    parser.add_argument("--model", required=True, help="a GGUF file or a Hugging Face folder")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    reader = open_weights(args.model)
    cpu, precision = torch.device("cpu"), Precision(int8_activations=True)
    config = reader.config
    weight = torch.randn(_READOUTS, config.hidden_size)
    readout = Readout(config.num_layers // 2, weight, torch.zeros(_READOUTS))
    plain, again = (build_decoder(reader, torch.float32, cpu, precision) for _ in range(2))
    read = build_decoder(reader, torch.float32, cpu, precision, readout=readout)
    readout.allocate(_SLOTS)
    caches = allocate_caches(_SLOTS, config, config.num_layers, torch.float16, cpu)

    clock = time.thread_time if args.threads == 1 else time.perf_counter

    def seconds(model: Decoder, batch: Batch) -> float:
        began = clock()
        model(batch, caches)
        return clock() - began

    tokens = torch.arange(_PROMPT) % config.vocab_size
    steps = {
        "decode, 1 stream": decode_batch(1),
        "decode, 8 streams": decode_batch(8),
        "prompt of 512": prompt_batch(tokens, tokens[:1]),
    }
    sys.stdout.write(
        f"{Path(args.model).name}, {_READOUTS} readouts, {args.threads} threads\n\n"
        "| | without | readouts | none again |\n|---|--:|--:|--:|\n"
    )
    with torch.inference_mode():
        for name, batch in steps.items():
            rounds = [
                [seconds(model, batch) for model in (plain, read, again)] for _ in range(_ROUNDS)
            ]
            alone = median(first for first, _, _ in rounds)
            with_it, without = (median(row[i] / row[0] for row in rounds) - 1 for i in (1, 2))
            sys.stdout.write(
                f"| {name} | {alone * 1e3:.2f} ms | {with_it:+.1%} | {without:+.1%} |\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
