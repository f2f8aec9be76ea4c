"""The report of a run: Markdown tables, JSON, and a plot as SVG."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from inference.bench.engine import EngineFigures, Start
from inference.bench.limits import Machine
from inference.bench.metrics import Metrics
from inference.bench.peers.cases import Cases, Rates

_COLUMNS = {
    "TTFT ms": "median_ttft_ms",
    "TTFT p99": "p99_ttft_ms",
    "TPOT ms": "mean_tpot_ms",
    "ITL p99": "p99_itl_ms",
    "output tok/s": "output_throughput",
    "req/s": "request_throughput",
    "goodput": "request_goodput",
}


@dataclass(frozen=True)
class BenchReport:
    """All that one run measured; what `--json` writes."""

    model: str
    machine: Machine
    load_before: float
    start: Start
    cases: Cases
    engine: EngineFigures
    peers: dict[str, Rates]
    missing: dict[str, str]
    """Peers that could not be measured, and why."""
    limits: dict[str, float]
    """Least possible seconds, by what they bound."""


def markdown(report: BenchReport) -> str:
    machine = report.machine
    head = (
        f"{report.model}; {machine.cores} cores of {machine.processor}, load "
        f"{report.load_before:.1f} before the run; float32 products "
        f"{machine.gemm_gflops:.0f} GFLOP/s, int8 products {machine.int8_gops:.0f} GOP/s, "
        f"reading {machine.read_gb_per_s:.1f} GB/s."
    )
    start = report.start
    started = (
        f"Ready {start.seconds:.1f} s after the command, with {start.memory / 1e6:,.0f} MB: "
        f"{start.memory / start.file:.2f} times the file."
    )
    missing = [f"{name} was not measured: {why}." for name, why in report.missing.items()]
    parts = [head, started, *missing, _peer_table(report), _limits_table(report)]
    parts += [_ratio_table(report)] if report.engine.ratios else []
    return "\n\n".join([*parts, _workload_table(report.engine.rows)]) + "\n"


def _rows_of_peers(report: BenchReport) -> list[tuple[str, list[float]]]:
    """Each case with our rate and those of the peers."""
    rates = [report.engine.rates, *report.peers.values()]
    decode = [
        (f"decode, {streams}", [rate.decode[streams] for rate in rates])
        for streams in report.cases.streams
    ]
    prefill = [
        (f"prefill, {tokens:,}", [rate.prefill[tokens] for rate in rates])
        for tokens in report.cases.prefill
    ]
    return decode + prefill


def _peer_table(report: BenchReport) -> str:
    names = list(report.peers)
    heads = ["tokens/s", "ours", *names, *(f"ours / {name}" for name in names)]
    lines = [_line(heads), _line(["---"] * len(heads))]
    for case, (ours, *theirs) in _rows_of_peers(report):
        ratios = [f"{ours / other:.2f}" for other in theirs]
        lines.append(_line([case, *(f"{rate:,.1f}" for rate in (ours, *theirs)), *ratios]))
    return "\n".join(lines)


def _limits_table(report: BenchReport) -> str:
    """What the machine allows: how near we are, and how many times each peer's rate that is."""
    cases, rates = report.cases, [report.engine.rates, *report.peers.values()]
    seconds = [{"decode step, 1 stream": 1 / rate.decode[1]} for rate in rates]
    for n in cases.prefill:
        for taken, rate in zip(seconds, rates, strict=True):
            taken[f"prompt of {n:,}"] = taken[f"prompt of {n:,}, int8"] = n / rate.prefill[n]
    heads = ["", "least ms here", "measured ms", "of the limit"]
    heads += [f"at most / {name}" for name in report.peers]
    lines = [_line(heads), _line(["---"] * len(heads))]
    for name, least in report.limits.items():
        took, *theirs = (taken[name] for taken in seconds)
        figures = [f"{1e3 * least:,.1f}", f"{1e3 * took:,.1f}", f"{least / took:.0%}"]
        lines.append(_line([name, *figures, *(f"{other / least:.2f}" for other in theirs)]))
    return "\n".join(lines)


def _ratio_table(report: BenchReport) -> str:
    lines = [_line(["of our own", "ratio"]), _line(["---"] * 2)]
    lines += [_line([name, f"{value:.2f}"]) for name, value in report.engine.ratios.items()]
    return "\n".join(lines)


def _workload_table(rows: list[Metrics]) -> str:
    lines = [_line(["workload", *_COLUMNS]), _line(["---"] * (1 + len(_COLUMNS)))]
    for row in rows:
        values = [getattr(row, field) for field in _COLUMNS.values()]
        lines.append(_line([row.workload, *(f"{value:,.1f}" for value in values)]))
    return "\n".join(lines)


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


_WIDTH, _BAR, _GAP, _LEFT = 720, 18, 14, 190
_COLOURS = ("#2563eb", "#7aa2f0", "#94a3b8", "#64748b", "#475569")


def plot(report: BenchReport) -> str:
    """Tokens a second of each program as bars, a group for each case, as SVG."""
    names = ["Parley", *report.peers]
    groups = _rows_of_peers(report)
    height = 40 + len(groups) * (len(names) * _BAR + _GAP) + 24 * len(names)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
        '<text x="10" y="22" font-size="14">Tokens a second; each group to its own scale</text>',
    ]
    y = 40
    for case, rates in groups:
        parts.append(f'<text x="10" y="{y + 13}">{escape(case)}</text>')
        for rate, colour in zip(rates, _COLOURS, strict=False):
            width = (_WIDTH - _LEFT - 90) * rate / max(rates)
            parts.append(
                f'<rect x="{_LEFT}" y="{y}" width="{width:.1f}" height="{_BAR - 4}" '
                f'fill="{colour}"/>'
                f'<text x="{_LEFT + width + 6:.1f}" y="{y + 11}">{rate:,.1f}</text>'
            )
            y += _BAR
        y += _GAP
    for name, colour in zip(names, _COLOURS, strict=False):
        parts.append(
            f'<rect x="10" y="{y}" width="12" height="12" fill="{colour}"/>'
            f'<text x="28" y="{y + 11}">{escape(name)}</text>'
        )
        y += 24
    return "\n".join([*parts, "</svg>"]) + "\n"
