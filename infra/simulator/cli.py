"""The simulator's commands."""

from __future__ import annotations

import argparse
import asyncio
import time
from pathlib import Path

from infra.simulator.step_times import DATA, load

OURS = "smollm2-135m-one-thread"
HARDWARE = "llama-3.3-70b-fp8-h100x2"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m infra.simulator",
        description="Fleets of engines in simulated time.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("measure", "measure step times of four real engines, and write their table"),
        ("compare", "one trace: four real engines, and simulated; with --measure, measure first"),
    ):
        real = commands.add_parser(name, help=text)
        real.add_argument(
            "--model", type=Path, default=Path("var/models/SmolLM2-135M-Instruct.Q4_1.gguf")
        )
        real.add_argument("--times", type=Path, default=DATA / f"{OURS}.json")
        if name == "compare":
            real.add_argument("--measure", action="store_true", help="step times before it")
            real.add_argument(
                "--runs", type=int, default=1, help="real ones, beside those kept of before"
            )
    run = commands.add_parser("run", help="simulate scenarios of a fleet of 10,000 GPUs")
    run.add_argument("scenarios", nargs="*", default=[], help="names; default: all")
    run.add_argument("--part", type=int, default=10, help="simulate one replica in so many")
    run.add_argument("--window", type=float, help="seconds of an interval; default: 1")
    run.add_argument("--plots", type=Path, help="a folder for a picture of each")
    run.add_argument("--suffix", default="svg")
    commands.add_parser("levels", help="one trace at both levels")
    commands.add_parser("choice", help="what it costs a gateway to choose among many replicas")
    options = parser.parse_args()
    if options.command == "run":
        _run(options)
    elif options.command == "levels":
        from infra.simulator.levels import table as levels

        print(levels(load(HARDWARE)))
    elif options.command == "choice":
        from infra.simulator.choice_cost import table

        print(table(load(HARDWARE)))
    else:
        _real(options)


def _run(options: argparse.Namespace) -> None:
    from infra.simulator.report import table
    from infra.simulator.scenarios import SCENARIOS, simulate

    for name in options.scenarios or SCENARIOS:
        began = time.monotonic()
        results = simulate(SCENARIOS[name], options.part, window_s=options.window)
        print(table(SCENARIOS[name], results))
        print(f"{len(results)} runs in {time.monotonic() - began:.0f} s\n", flush=True)
        if options.plots:
            from infra.simulator.plots import draw

            options.plots.mkdir(parents=True, exist_ok=True)
            draw(SCENARIOS[name], results, options.plots / f"{name}.{options.suffix}")


def _real(options: argparse.Namespace) -> None:
    from infra.simulator import compare
    from infra.simulator.measure import ENGINES, engines, go_first, keep, measure

    is_first = go_first()
    if options.command == "measure" or options.measure:
        with engines(options.model) as urls:
            keep(asyncio.run(measure(options.model, urls)), options.times)
        print(options.times.read_text(), flush=True)
    if options.command == "measure":
        return
    times, kept = load(options.times.stem), options.times.with_suffix(".real.jsonl")
    for _ in range(options.runs):
        with engines(options.model) as urls:
            compare.keep(compare.run_once(urls, times, is_first=is_first), kept)
    print(compare.compare(compare.kept(kept), times, ENGINES))
