"""The command: which policies and routers are tried, and what is printed of each."""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from infra.load.routing.conversing import Measured, converse
from infra.load.routing.engines import engines, finished
from infra.load.routing.routers import HOP, PYTHON, ROUTERS, started
from infra.load.routing.trace import trace

_POLICIES = ("prefix", "affinity", "least_loaded", "round_robin", "random")
_BEHIND_HOP = "prefix, one hop more"
_HEAD = (
    "| policy | later turns cached | prompt tokens cached | TTFT p50, ms | p95, ms |"
    " tokens/s | busiest replica |\n|---|--:|--:|--:|--:|--:|--:|"
)


def main(description: str) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m infra.load.routing",
        description=description,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--only", action="append", choices=(*_POLICIES, _BEHIND_HOP, *ROUTERS), help="repeatable"
    )
    parser.add_argument("--replicas", type=int, default=4)
    parser.add_argument("--conversations", type=int, default=32)
    parser.add_argument("--blocks", type=int, default=1000, help="KV blocks of each engine")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rows = options.only or [*_POLICIES]
    if not options.only and PYTHON.exists():
        rows += [_BEHIND_HOP, *ROUTERS]
    conversations = trace(options.conversations, options.seed)
    with (
        tempfile.TemporaryDirectory(prefix="parley-routing-") as folder,
        engines(options.replicas, options.blocks, Path(folder)) as urls,
    ):
        print(_HEAD)
        for row in rows:
            before = finished(urls)
            with _way(row, urls, Path(folder, "router.log")) as (policy, addresses):
                salt = f"[{time.time_ns()}]"
                measured = asyncio.run(converse(policy, addresses, conversations, salt))
            answers = [now - then for now, then in zip(finished(urls), before, strict=True)]
            _print(row, measured, answers)
    if not options.only and not PYTHON.exists():
        print("sglang-router and vllm-router are not there: `make bench-routers`")


@contextmanager
def _way(row: str, urls: Sequence[str], log: Path) -> Iterator[tuple[str, Sequence[str]]]:
    """The gateway's policy and what it chooses from: the engines, programs that each pass on to
    one of them, or the one router that chooses itself."""
    with ExitStack() as running:
        if row == _BEHIND_HOP:
            hops = [running.enter_context(started(HOP, [url], log)) for url in urls]
            yield "prefix", hops
        elif row in ROUTERS:
            yield "round_robin", [running.enter_context(started(ROUTERS[row], urls, log))]
        else:
            yield row, urls


def _print(row: str, measured: Measured, answers: Sequence[int]) -> None:
    ttft = sorted(measured.ttft_s)
    print(
        f"| {row} | {measured.found / max(1, measured.later):.0%}"
        f" | {measured.cached_tokens / max(1, measured.prompt_tokens):.0%}"
        f" | {statistics.median(ttft) * 1000:.0f} | {ttft[int(len(ttft) * 0.95)] * 1000:.0f}"
        f" | {(measured.prompt_tokens + measured.output_tokens) / measured.took_s:.0f}"
        f" | {max(answers) * len(answers) / sum(answers):.2f} |",
        flush=True,
    )
