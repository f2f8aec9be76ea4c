"""`make bench-gateway`: how many token streams one web process holds, and what it adds to them.

For each number of streams the same client reads the synthetic upstream directly, then through
the product (key, limits, budget, pre- and post-check, buffer in Redis, stored and billed). What
is printed is the difference, and its ratio to reading directly. docs/benchmarks/gateway.md.
"""

import argparse
import asyncio
import statistics
import tempfile
from pathlib import Path

import psutil

from infra.load.client import Measurements, read_streams
from infra.load.stack import MODEL, Stack

_FEWEST_FIRST_TOKENS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 50, 100, 200, 300, 400, 500])
    parser.add_argument("--rate", type=float, default=30.0, help="tokens a second of a stream")
    parser.add_argument("--seconds", type=float, default=8.0, help="length of each stream")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="parley-load-") as name:
        directory = Path(name)
        directory.chmod(0o711)  # the database's account must be able to pass
        with Stack(directory, rate=arguments.rate, settings={}) as stack:
            asyncio.run(_measure(stack, arguments))


async def _measure(stack: Stack, arguments: argparse.Namespace) -> None:
    tokens = int(arguments.rate * arguments.seconds)
    web = psutil.Process(stack.web_pid)
    await _read(stack, stack.web_url, streams=5, tokens=10)
    print(f"{arguments.rate:g} tokens/s a stream, {tokens} tokens each; milliseconds\n")
    print(
        "| streams | tokens/s | web CPU | µs a token | TTFT added p50 | p99"
        " | token delay added p50 | p99 | ratio p50 | p99 | failed |\n"
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    )
    for streams in arguments.streams:
        direct = await _read(stack, stack.upstream_url, streams=streams, tokens=tokens)
        before = web.cpu_times()
        loop = asyncio.get_running_loop()
        started = loop.time()
        through = await _read(stack, stack.web_url, streams=streams, tokens=tokens)
        took = loop.time() - started
        after = web.cpu_times()
        cpu = (after.user + after.system - before.user - before.system) / took
        print(_row(streams, direct, through, took=took, cpu=cpu), flush=True)
        for error in sorted(set(through.errors))[:3]:
            print(f"    {error}")


async def _read(stack: Stack, url: str, *, streams: int, tokens: int) -> Measurements:
    """Few streams are read several times over, shorter: each time gives one first token only."""
    rounds = -(-_FEWEST_FIRST_TOKENS // streams)
    measured = Measurements()
    for _ in range(rounds):
        measured += await read_streams(
            url,
            upstream_url=stack.upstream_url,
            model=MODEL,
            key=stack.key,
            streams=streams,
            tokens=max(1, tokens // rounds),
            ramp_s=max(1.0, streams / 100) if rounds == 1 else 0.1,
        )
    return measured


def _row(
    streams: int, direct: Measurements, through: Measurements, *, took: float, cpu: float
) -> str:
    ttft = [_p(through.ttft, q) - _p(direct.ttft, q) for q in (50, 99)]
    delay = [_p(through.delays, q) - _p(direct.delays, q) for q in (50, 99)]
    ratio = [_p(through.delays, q) / max(1e-9, _p(direct.delays, q)) for q in (50, 99)]
    cost = cpu * took / max(1, len(through.delays))
    return (
        f"| {streams} | {len(through.delays) / took:.0f} | {cpu:.0%} | {cost * 1e6:.0f}"
        f" | {ttft[0] * 1e3:.1f} | {ttft[1] * 1e3:.1f}"
        f" | {delay[0] * 1e3:.1f} | {delay[1] * 1e3:.1f}"
        f" | {ratio[0]:.1f} | {ratio[1]:.1f} | {through.failed} |"
    )


def _p(values: list[float], percent: int) -> float:
    if len(values) < 2:
        return values[0] if values else float("nan")
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


if __name__ == "__main__":
    main()
