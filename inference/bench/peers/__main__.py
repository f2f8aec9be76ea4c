"""Runs one peer and prints its rates as JSON, alone in its process."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median

import msgspec

from inference.bench.peers.cases import Cases, Peer, Rates
from inference.bench.peers.llama_cpp import LlamaCpp
from inference.bench.peers.transformers_continuous import TransformersContinuous
from inference.bench.peers.transformers_static import TransformersStatic

PEERS: dict[str, Callable[[Path], Peer]] = {
    "llama.cpp": LlamaCpp,
    "transformers": TransformersStatic,
    "transformers-continuous": TransformersContinuous,
}


def rates(peer: Peer, cases: Cases) -> Rates:
    """Medians, after one warm round of each case."""
    peer.prefill_s(64)
    peer.decode_rate(1, 64, 2)
    return Rates(
        decode={
            streams: median(
                peer.decode_rate(streams, cases.context, cases.steps) for _ in range(cases.repeats)
            )
            for streams in cases.streams
        },
        prefill=cases.prefill / median(peer.prefill_s(cases.prefill) for _ in range(cases.repeats)),
    )


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
    sys.stdout.buffer.write(msgspec.json.encode(rates(peer, cases)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
