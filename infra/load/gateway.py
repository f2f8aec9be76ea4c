"""`make bench-gateway`: how many token streams one web process holds, and what it adds to them.

For each number of streams the same client reads the synthetic upstream directly, then through
the product (key, limits, budget, pre- and post-check, buffer in Redis, stored and billed), three
times. What is printed is the difference, and its ratio to reading directly; at the end each goal
of docs/benchmarks/gateway.md beside its figure. `--engine` puts the real engine at the other end;
`--relay` measures a bare relay too (`infra.load.relay`): the least that anything in between costs.
`--admissions` measures admissions alone.
"""

import argparse
import asyncio
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

import psutil

from backend.generation.pools.http import Origin
from infra.load import engine
from infra.load.client import Measurements, read_streams
from infra.load.stack import MODEL, Relay, Stack
from infra.services.bundle import ServiceBundle

_FEWEST_FIRST_TOKENS = 20
_ADMISSIONS = 300
_ADMISSIONS_AT_ONCE = 16
# Streams are opened this fast; what an admission costs is measured by itself.
_OPENED_PER_S = 20
_SETTLED_S = 0.5


@dataclass(frozen=True, slots=True)
class Level:
    """One run at one number of streams; seconds.

    Attributes:
        token_cpu: of the web process for a token, while all streams were open.
        memory: bytes of the web process for a stream.
    """

    streams: int
    ttft: tuple[float, float]
    delay: tuple[float, float]
    ratio: tuple[float, float]
    token_cpu: float
    web_cpu: float
    memory: float
    failed: int


def main(services: ServiceBundle | None = None) -> None:
    """
    Args:
        services: see `Stack`.
    """
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 10, 50, 100, 300, 500])
    parser.add_argument("--rate", type=float, default=30.0, help="tokens a second of a stream")
    parser.add_argument("--seconds", type=float, default=5.0, help="with all streams open")
    parser.add_argument("--runs", type=int, default=3, help="of which the medians are printed")
    parser.add_argument("--engine", action="store_true", help="the real engine, eight streams")
    parser.add_argument("--relay", action="store_true", help="a bare relay, to compare with")
    parser.add_argument("--admissions", action="store_true", help="nothing but what they cost")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="parley-load-") as name:
        directory = Path(name)
        directory.chmod(0o711)  # the database's account must be able to pass
        if arguments.engine:
            engine.measure(directory, runs=arguments.runs, relay=arguments.relay)
            return
        with Stack(directory, rate=arguments.rate, settings={}, services=services) as stack:
            if arguments.admissions:
                asyncio.run(_measure_admissions(stack, arguments.runs))
                return
            relay = stack.start_relay() if arguments.relay else None
            asyncio.run(_measure(stack, arguments, relay))


async def _measure(stack: Stack, arguments: argparse.Namespace, relay: Relay | None) -> None:
    await _read(stack, stack.web_url, streams=5, tokens=10)
    print(f"{arguments.rate:g} tokens/s a stream; medians of {arguments.runs} runs; ms\n")
    print(
        "| streams | µs CPU a token | web CPU | KB a stream | TTFT added p50 | p99"
        " | token delay added p50 | p99 | ratio p50 | p99 | failed |\n"
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    )
    levels = []
    for streams in arguments.streams:
        tokens = int(arguments.rate * (arguments.seconds + _ramp_s(streams) + 2 * _SETTLED_S))
        direct = await _read(stack, stack.upstream_url, streams=streams, tokens=tokens)
        direct += await _first_tokens(stack, stack.upstream_url, streams)
        runs = [await _level(stack, direct, streams, tokens) for _ in range(arguments.runs)]
        levels.append(_median(runs))
        print(_row(levels[-1]), flush=True)
        if relay is not None:
            least = await _relayed(stack, relay, streams, tokens)
            times = levels[-1].token_cpu / least
            print(f"|| {least * 1e6:.0f} by a bare relay: {times:.1f} times as much |", flush=True)
    admissions = [await _admissions(stack) for _ in range(arguments.runs)]
    _print_goals(levels, statistics.median(admissions), arguments.rate)


async def _measure_admissions(stack: Stack, runs: int) -> None:
    await _admissions(stack)  # what is loaded, learned and cached once
    found = [await _admissions(stack) for _ in range(runs)]
    print(", ".join(f"{cpu * 1e3:.1f}" for cpu in found), "ms of CPU an admission")
    print(f"{1 / statistics.median(found):.0f} a second and core, the median; >= 250 wanted")


async def _level(stack: Stack, direct: Measurements, streams: int, tokens: int) -> Level:
    web = psutil.Process(stack.web_pid)
    first = await _first_tokens(stack, stack.web_url, streams)
    measured, whole = await _cpu_while_read(stack, stack.web_url, web, streams, tokens)
    for error in sorted(set(measured.errors))[:3]:
        print(f"    {error}")
    return Level(
        streams=streams,
        ttft=_added(measured.ttft + first.ttft, direct.ttft),
        delay=_added(measured.delays, direct.delays),
        ratio=_ratio(measured.delays, direct.delays),
        token_cpu=whole.cpu_s / whole.tokens if whole.tokens else float("nan"),
        web_cpu=whole.cpu_s / whole.seconds if whole.seconds else float("nan"),
        memory=whole.memory / streams,
        failed=measured.failed,
    )


@dataclass(frozen=True, slots=True)
class _WhileOpen:
    """What a process used while all streams were open, and the tokens that came meanwhile."""

    seconds: float
    cpu_s: float
    tokens: float
    memory: float


async def _cpu_while_read(
    stack: Stack, url: str, process: psutil.Process, streams: int, tokens: int
) -> tuple[Measurements, _WhileOpen]:
    memory = process.memory_info().rss
    measured = Measurements()
    reading = asyncio.create_task(
        _read(stack, url, streams=streams, tokens=tokens, measured=measured)
    )
    while measured.open < streams and not reading.done():  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    await asyncio.sleep(_SETTLED_S)
    loop = asyncio.get_running_loop()
    began, cpu, characters = last = loop.time(), _cpu(process), measured.characters
    memory = process.memory_info().rss - memory
    while not reading.done() and measured.open == streams:
        last = loop.time(), _cpu(process), measured.characters
        await asyncio.sleep(0.05)
    await reading
    took, used, came = (
        now - then for now, then in zip(last, (began, cpu, characters), strict=True)
    )
    tokens_came = came * len(measured.delays) / max(1, measured.characters)
    return measured, _WhileOpen(took, used, tokens_came, memory)


async def _relayed(stack: Stack, relay: Relay, streams: int, tokens: int) -> float:
    """CPU seconds that the bare relay uses for a token."""
    process = psutil.Process(relay.pid)
    _, whole = await _cpu_while_read(stack, relay.url, process, streams, tokens)
    return whole.cpu_s / whole.tokens if whole.tokens else float("nan")


async def _admissions(stack: Stack) -> float:
    """CPU seconds of the web process for an answer of one token: admitted, checked, stored."""
    web = psutil.Process(stack.web_pid)
    before = _cpu(web)
    await ask_for_one_token(stack, _ADMISSIONS, at_once=_ADMISSIONS_AT_ONCE)
    return (_cpu(web) - before) / _ADMISSIONS


async def ask_for_one_token(stack: Stack, requests: int, *, at_once: int) -> None:
    """Read so many answers of one token. Each client keeps its connection, as those of programs
    do."""
    left = iter(range(requests))

    async def client() -> None:
        origin = Origin(stack.web_url)
        for _ in left:
            await _read(stack, stack.web_url, streams=1, tokens=1, origin=origin)
        origin.close()

    await asyncio.gather(*(client() for _ in range(at_once)))


async def _first_tokens(stack: Stack, url: str, streams: int) -> Measurements:
    """Further first tokens, where there are few streams: short answers, one round after another."""
    found = Measurements()
    for _ in range(-(-_FEWEST_FIRST_TOKENS // streams) - 1):
        found += await _read(stack, url, streams=streams, tokens=1)
    found.delays = []
    return found


async def _read(
    stack: Stack,
    url: str,
    *,
    streams: int,
    tokens: int,
    measured: Measurements | None = None,
    origin: Origin | None = None,
) -> Measurements:
    return await read_streams(
        url,
        upstream_url=stack.upstream_url,
        model=MODEL,
        key=stack.key,
        streams=streams,
        tokens=tokens,
        ramp_s=_ramp_s(streams),
        measured=measured,
        origin=origin,
    )


def _ramp_s(streams: int) -> float:
    return streams / _OPENED_PER_S


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _median(runs: list[Level]) -> Level:
    """Of each figure; of the failed the sum."""

    def pair(name: str) -> tuple[float, float]:
        pairs = [getattr(run, name) for run in runs]
        return statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs)

    return Level(
        streams=runs[0].streams,
        ttft=pair("ttft"),
        delay=pair("delay"),
        ratio=pair("ratio"),
        token_cpu=statistics.median(run.token_cpu for run in runs),
        web_cpu=statistics.median(run.web_cpu for run in runs),
        memory=statistics.median(run.memory for run in runs),
        failed=sum(run.failed for run in runs),
    )


def _row(level: Level) -> str:
    return (
        f"| {level.streams} | {level.token_cpu * 1e6:.0f} | {level.web_cpu:.0%}"
        f" | {level.memory / 1e3:.0f} | {level.ttft[0] * 1e3:.1f} | {level.ttft[1] * 1e3:.1f}"
        f" | {level.delay[0] * 1e3:.1f} | {level.delay[1] * 1e3:.1f}"
        f" | {level.ratio[0]:.1f} | {level.ratio[1]:.1f} | {level.failed} |"
    )


def _print_goals(levels: list[Level], admission_cpu: float, rate: float) -> None:
    by_streams = {level.streams: level for level in levels}
    figures: list[tuple[str, str, str]] = []
    for streams, p50_ms in ((1, 5), (50, 20)):
        if streams in by_streams:
            p50, p99 = (value * 1e3 for value in by_streams[streams].delay)
            goal = f"<= {p50_ms}, <= 100"
            name = f"token delay added at {streams} streams, ms p50, p99"
            figures.append((name, f"{p50:.1f}, {p99:.1f}", goal))
    for streams in (100, 300, 500):
        if streams in by_streams:
            level = by_streams[streams]
            cost = f"{level.token_cpu * 1e6:.0f}"
            figures.append((f"µs CPU a token at {streams} streams", cost, "<= 60"))
            figures.append((f"answers ended of {streams}", str(level.failed), "0"))
    largest = max(levels, key=lambda level: level.streams)
    held = f"{1 / (largest.token_cpu * rate):.0f}"
    figures.append((f"streams at {rate:g} tokens/s in one core", held, ">= 500"))
    figures.append(("admissions a second and core", f"{1 / admission_cpu:.0f}", ">= 250"))
    print("\n| goal | measured | wanted |\n|--|--:|--:|")
    for name, measured, wanted in figures:
        print(f"| {name} | {measured} | {wanted} |")


def _added(through: list[float], direct: list[float]) -> tuple[float, float]:
    p50, p99 = (_p(through, percent) - _p(direct, percent) for percent in (50, 99))
    return p50, p99


def _ratio(through: list[float], direct: list[float]) -> tuple[float, float]:
    p50, p99 = (_p(through, q) / max(1e-9, _p(direct, q)) for q in (50, 99))
    return p50, p99


def _p(values: list[float], percent: int) -> float:
    if len(values) < 2:
        return values[0] if values else float("nan")
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


if __name__ == "__main__":
    main()
