"""Runs one peer and prints its rates as JSON, alone in its process."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import msgspec

from inference.bench.peers.cases import Cases, Peer, Rates
from inference.bench.peers.llama_cpp import LlamaCpp
from inference.bench.peers.openvino_genai import OpenVino
from inference.bench.peers.transformers_continuous import TransformersContinuous
from inference.bench.peers.transformers_static import TransformersStatic
from inference.bench.peers.vllm_cpu import VllmCpu

PEERS: dict[str, Callable[[Path], Peer]] = {
    "llama.cpp": LlamaCpp,
    "openvino-genai": OpenVino,
    "transformers": TransformersStatic,
    "transformers-continuous": TransformersContinuous,
    "vllm": VllmCpu,
}


def rates(peer: Peer, cases: Cases) -> Rates:
    """Medians, after a short warm round."""
    peer.prefill_s(64)
    peer.decode_rate(1, 64, 2)

    def decode_rate(streams: int) -> float:
        return _repeated(lambda: peer.decode_rate(streams, cases.context, cases.steps), cases)

    def prefill_s(tokens: int) -> float:
        return _repeated(lambda: peer.prefill_s(tokens), cases)

    return Rates(
        decode={streams: decode_rate(streams) for streams in cases.streams},
        prefill={tokens: tokens / prefill_s(tokens) for tokens in cases.prefill},
    )


def _repeated(measure: Callable[[], float], cases: Cases) -> float:
    """The median of as many measurements as are wanted, or as there is time for."""
    values: list[float] = []
    began = time.monotonic()
    while cases.wants_another(len(values), time.monotonic() - began):
        values.append(measure())
    return median(values)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m inference.bench.peers", description=__doc__)
    parser.add_argument("name", choices=PEERS)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--cases", required=True, help="JSON of the cases")
    args = parser.parse_args()
    cases = msgspec.json.decode(args.cases, type=Cases)
    try:
        peer = PEERS[args.name](args.model)
    except ImportError as error:
        sys.stderr.write(f"{args.name} is not installed: {error}\n")
        return 3
    sys.stdout.flush()
    sys.stdout.buffer.write(b"\n")
    sys.stdout.buffer.write(msgspec.json.encode(rates(peer, cases)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
