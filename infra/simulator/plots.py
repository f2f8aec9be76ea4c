"""A scenario drawn: times to first token, tokens, GPUs and their places, over its time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from infra.simulator.scenarios import Result, Scenario

mpl.rcParams["svg.hashsalt"] = "parley"  # the same picture for the same figures
mpl.rcParams["svg.fonttype"] = "none"  # letters stay letters
_COLOURS = ("#1f6feb", "#d1242f", "#1a7f37", "#8250df")


def draw(scenario: Scenario, results: Sequence[Result], path: Path) -> None:
    """Write an SVG, or whatever the path's suffix says."""
    figure = Figure(figsize=(11, 10), layout="constrained")
    first, load, capacity, places = figure.subplots(4, 1, sharex=True)
    for result, colour in zip(results, _COLOURS, strict=False):
        ledger, label = result.ledger, result.run.label
        unit_s = 3600.0 if result.run.lasts_s > 7200 else 60.0
        at = (np.arange(ledger.count) + 0.5) * ledger.every_s / unit_s
        for share, style in ((0.5, "-"), (0.99, ":")):
            name = f"{label}, p{share * 100:.0f}"
            first.plot(at, ledger.ttft_over_time(share), style, color=colour, label=name)
        per_s = ledger.of("output") * result.part / ledger.every_s
        load.plot(at, per_s / 1e6, color=colour, label=label)
        for name, style in (("paid", "-"), ("ready", ":")):
            gpus = ledger.of(f"{name}_s") * result.part * result.gpus / ledger.every_s
            capacity.plot(at, gpus, style, color=colour, label=f"{label}, {name}")
        held = ledger.of("held_s") / np.maximum(ledger.of("ready_s"), 1)
        places.plot(at, 100 * held / result.run.spec.places, color=colour, label=label)
    first.set_yscale("log")
    first.set_ylabel("first token, s")
    load.set_ylabel("output tokens a second, millions")
    capacity.set_ylabel("GPUs")
    places.set_ylabel("places taken, %")
    places.set_xlabel("hours" if unit_s == 3600.0 else "minutes")
    for axes in (first, load, capacity, places):
        axes.grid(alpha=0.3)
        axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.suptitle(scenario.explains, fontsize=11)
    metadata = {"Date": None} if path.suffix == ".svg" else None
    figure.savefig(path, metadata=metadata, dpi=80)
