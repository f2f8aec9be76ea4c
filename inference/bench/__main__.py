"""`python -m inference.bench --model PATH`: our engine, its peers, the machine's limits."""

from __future__ import annotations

import argparse
import asyncio
import os
import shlex
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import msgspec

from inference.bench.engine import (
    Sizes,
    Start,
    measure,
    measure_rates,
    measure_rewriting,
    memory_of_processes,
    served,
)
from inference.bench.kept import Kept
from inference.bench.limits import Machine, bytes_of_step, file_bytes
from inference.bench.peers.bf16_folder import bf16_folder
from inference.bench.peers.cases import Cases, Rates
from inference.bench.pools import default_sampling
from inference.bench.report import BenchReport, markdown, plot
from inference.model.files.open import open_weights

_PEERS = ("llama.cpp", "openvino-genai", "transformers", "transformers-continuous", "vllm")
_OWN_PYTHON = {"vllm": Path("var/bench/vllm/bin/python")}
"""Peers that have an environment of their own, and read folders."""
_FOLDERS = Path("var/bench/models")
_NOT_INSTALLED = 3
_LEAST_S = 10.0
"""A peer cannot even be loaded in less."""
_GUESSING = "prompt lookup on rewriting and summarising, 1 stream, to without"


def main() -> None:
    args = _parser().parse_args()
    machine = Machine.measure()
    kept = Kept(args.resume)
    reports = []
    for model in args.model:
        report = _measure_model(model, machine, args, kept)
        sys.stdout.write(markdown(report))
        sys.stdout.flush()
        reports.append(report)
    if args.json:
        # One model's report is an object, as before there could be several.
        written = reports if len(reports) > 1 else reports[0]
        args.json.write_bytes(msgspec.json.format(msgspec.json.encode(written), indent=1))


def _measure_model(
    path: Path, machine: Machine, args: argparse.Namespace, kept: Kept
) -> BenchReport:
    """Put the workloads to the engine and to the peers, but for those that are kept."""
    sizes = _sizes(args)
    end = time.monotonic() + 60 * args.minutes
    known = kept.report(path, sizes.cases)
    report = known or kept.add(_measure_engine(path, machine, sizes, args))
    for name, options in args.beside:
        if name in report.peers:
            continue
        with served(path, [*shlex.split(options), "--no-prompt-lookup"]) as url:
            vocab = open_weights(str(path)).config.vocab_size
            rates = asyncio.run(measure_rates(url, vocab, sizes))
        report = kept.add(replace(report, peers=report.peers | {name: rates}))
    missing: dict[str, str] = {}
    for name in args.peers:
        if name in report.peers:
            continue
        found, why = measure_peers(path, sizes.cases, [name], end)
        missing |= why
        report = kept.add(replace(report, peers=report.peers | found, missing=missing))
    if args.plot:
        several = len(args.model) > 1
        plot_path = args.plot.with_stem(f"{args.plot.stem}-{path.stem}") if several else args.plot
        plot_path.write_text(plot(report))
    return report


def _sizes(args: argparse.Namespace) -> Sizes:
    sizes = Sizes.quick() if args.quick else Sizes()
    streams, prefill = (
        tuple(given or usual)
        for given, usual in (
            (args.streams, sizes.cases.streams),
            (args.prefill, sizes.cases.prefill),
        )
    )
    return replace(sizes, cases=replace(sizes.cases, streams=streams, prefill=prefill))


def _measure_engine(
    path: Path, machine: Machine, sizes: Sizes, args: argparse.Namespace
) -> BenchReport:
    """Without any peer."""
    load_before = os.getloadavg()[0]
    reader = open_weights(str(path))
    model = reader.config
    # Guesses are no part of what the peers are asked, and random prompts say nothing of them.
    plain = [*args.serve_options, "--no-prompt-lookup"]
    began = time.monotonic()
    with served(path, plain) as url:
        ready_s = time.monotonic() - began
        start = Start(ready_s, memory_of_processes(), file_bytes(path))
        sampling = default_sampling(path)
        run = measure(url, model.vocab_size, sizes, only_rates=args.only_rates, sampling=sampling)
        engine = asyncio.run(run)
    if engine.rewriting is not None:
        with served(path, args.serve_options) as url:
            guessing = asyncio.run(measure_rewriting(url, model.vocab_size, sizes))
        engine.ratios[_GUESSING] = guessing / engine.rewriting
    prompts = sizes.cases.prefill
    return BenchReport(
        model=path.name,
        machine=machine,
        load_before=load_before,
        start=start,
        cases=sizes.cases,
        engine=engine,
        peers={},
        missing={},
        limits={"decode step, 1 stream": machine.decode_s(bytes_of_step(path, reader))}
        | {f"prompt of {n:,}": machine.prefill_s(model, n) for n in prompts}
        | {f"prompt of {n:,}, int8": machine.int8_prefill_s(model, n) for n in prompts},
    )


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
        python, file = sys.executable, model
        if name in _OWN_PYTHON:
            if not _OWN_PYTHON[name].exists():
                missing[name] = "not installed"
                continue
            python, file = str(_OWN_PYTHON[name]), bf16_folder(model, _FOLDERS)
        command = ["-m", "inference.bench.peers", name, "--model", str(file), "--cases", encoded]
        try:
            run = subprocess.run(  # noqa: S603
                [python, *command], capture_output=True, timeout=left, check=False
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m inference.bench",
        description=__doc__,
        epilog="What follows -- is handed to `python -m inference serve`.",
    )
    parser.add_argument(
        "--model", type=Path, nargs="+", required=True, help="GGUF files or folders"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, in a minute or two")
    parser.add_argument("--only-rates", action="store_true", help="only what the peers are asked")
    parser.add_argument("--streams", nargs="+", type=int, help="that decode at a time")
    parser.add_argument("--prefill", nargs="+", type=int, help="lengths of prompts")
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
    parser.add_argument(
        "--resume",
        type=Path,
        help="keep figures in this file, and take from it what earlier runs have measured",
    )
    parser.add_argument("--json", type=Path, help="write all figures here")
    parser.add_argument("--plot", type=Path, help="write a bar chart here, as SVG")
    parser.add_argument("serve_options", nargs="*", metavar="-- OPTION", default=[])
    return parser


if __name__ == "__main__":
    main()
