"""`python -m inference.bench --model PATH`: our engine, its peers, the machine's limits."""

from __future__ import annotations

import argparse
import asyncio
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from inference.bench.engine import (
    Sizes,
    measure,
    measure_rates,
    measure_rewriting,
    served,
)
from inference.bench.limits import Machine
from inference.bench.peers.cases import Cases, Rates
from inference.bench.report import Report, markdown, plot
from inference.model.files.open import open_weights

_PEERS = ("llama.cpp", "transformers", "transformers-continuous")
_NOT_INSTALLED = 3
_LEAST_S = 10.0
"""A peer cannot even be loaded in less."""
_GUESSING = "prompt lookup on rewriting and summarising, 1 stream, to without"


def main() -> None:
    args = _parser().parse_args()
    sizes = Sizes.quick() if args.quick else Sizes()
    load_before = os.getloadavg()[0]
    end = time.monotonic() + 60 * args.minutes
    model = open_weights(str(args.model)).config
    machine = Machine.measure()
    # Guesses are no part of what the peers are asked, and random prompts say nothing of them.
    plain = [*args.serve_options, "--no-prompt-lookup"]
    with served(args.model, plain) as url:
        engine = asyncio.run(measure(url, model.vocab_size, sizes))
    with served(args.model, args.serve_options) as url:
        guessing = asyncio.run(measure_rewriting(url, model.vocab_size, sizes))
    engine.ratios[_GUESSING] = guessing / engine.rewriting
    peers: dict[str, Rates] = {}
    for name, options in args.beside:
        with served(args.model, [*shlex.split(options), "--no-prompt-lookup"]) as url:
            peers[name] = asyncio.run(measure_rates(url, model.vocab_size, sizes))
    others, missing = measure_peers(args.model, sizes.cases, args.peers, end)
    peers |= others
    # The weights of a folder are read as float32, those of a GGUF file as they are.
    weight_bytes = args.model.stat().st_size if args.model.is_file() else _folder_bytes(args.model)
    report = Report(
        model=args.model.name,
        machine=machine,
        load_before=load_before,
        cases=sizes.cases,
        engine=engine,
        peers=peers,
        missing=missing,
        limits={
            "decode step, 1 stream": machine.decode_s(weight_bytes),
        }
        | {f"prompt of {n:,}": machine.prefill_s(model, n) for n in sizes.cases.prefill},
    )
    sys.stdout.write(markdown(report))
    if args.json:
        args.json.write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=1))
    if args.plot:
        args.plot.write_text(plot(report))


def measure_peers(
    model: Path, cases: Cases, names: list[str], end: float
) -> tuple[dict[str, Rates], dict[str, str]]:
    """Rates of the programs that are installed, and why the others have none.

    Args:
        end: when, by the monotonic clock, a peer that still runs is given up.
    """
    rates: dict[str, Rates] = {}
    missing: dict[str, str] = {}
    encoded = msgspec.json.encode(cases).decode()
    for name in names:
        left = end - time.monotonic()
        if left < _LEAST_S:
            missing[name] = "no time was left"
            continue
        command = ["-m", "inference.bench.peers", name, "--model", str(model), "--cases", encoded]
        try:
            run = subprocess.run(  # noqa: S603
                [sys.executable, *command], capture_output=True, timeout=left, check=False
            )
        except subprocess.TimeoutExpired:
            missing[name] = "it took too long"
            continue
        if run.returncode == 0:
            rates[name] = msgspec.json.decode(run.stdout.splitlines()[-1], type=Rates)
        elif run.returncode == _NOT_INSTALLED:
            missing[name] = "not installed"
        else:
            last = run.stderr.decode(errors="replace").strip().splitlines() or ["no message"]
            missing[name] = f"failed with {last[-1]!r}"
    return rates, missing


def _folder_bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.glob("*.safetensors"))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m inference.bench",
        description=__doc__,
        epilog="What follows -- is handed to `python -m inference serve`.",
    )
    parser.add_argument("--model", type=Path, required=True, help="a GGUF file or a folder")
    parser.add_argument("--quick", action="store_true", help="small sizes, in a minute or two")
    parser.add_argument("--peers", nargs="*", choices=_PEERS, default=list(_PEERS))
    parser.add_argument(
        "--beside",
        nargs=2,
        action="append",
        default=[],
        metavar=("NAME", "OPTIONS"),
        help="measure the engine also with these options of `serve`, as a peer",
    )
    parser.add_argument(
        "--minutes", type=float, default=15.0, help="then peers that still run are given up"
    )
    parser.add_argument("--json", type=Path, help="write all figures here")
    parser.add_argument("--plot", type=Path, help="write a bar chart here, as SVG")
    parser.add_argument("serve_options", nargs="*", metavar="-- OPTION", default=[])
    return parser


if __name__ == "__main__":
    main()
