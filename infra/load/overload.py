"""`make load`: ten times the load that the product can serve, for a bounded time.

Promise 7 (docs/architecture.md): at ten times the load the product keeps serving at its peak
rate, the rest gets a fast 429 or 503, higher plans go first, and within a plan no customer starves
another. The synthetic upstream serves a fixed number of answers at once, so the peak rate is known;
requests arrive at random (Poisson) and do not wait for each other: from a premium organization and
a free one, and few from another premium one, no more than its share of the places. What is printed
is compared with the peak; nothing leaves this machine.
"""

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import orjson

from backend.generation.pools.http import Origin, Response
from backend.platform.sse import EventDecoder
from infra.load.stack import MODEL, Stack

CUSTOMERS = {"premium": "premium", "free": "free", "few": "premium"}
"""Organizations, by the name that is printed, and their plans."""
_FEW_OF_PEAK = 0.3
"""The requests of `few`, as a part of what can be served: under its share, a half."""
_TIMEOUT_SECONDS = 60.0
_CLOCK_S = 0.01


@dataclass(frozen=True, slots=True)
class RequestOutcome:
    """What became of one request; `seconds` until the refusal, or until the first token.

    Attributes:
        server_s: what the web process took for a refusal, by its own clock.
    """

    customer: str
    status: str
    seconds: float
    server_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Offered:
    """What became of all requests in `took` seconds.

    Attributes:
        late_s: how late this process was itself, each ten milliseconds: what a refusal seems to
            take longer because its answer is not read.
    """

    outcomes: list[RequestOutcome]
    took: float
    late_s: list[float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--at-once", type=int, default=16, help="answers the upstream serves")
    parser.add_argument("--queue", type=int, default=32, help="answers that may wait")
    parser.add_argument("--tokens", type=int, default=30, help="of each answer")
    parser.add_argument("--rate", type=float, default=30.0, help="tokens a second of an answer")
    parser.add_argument("--times", type=float, nargs="+", default=[0.8, 10.0], help="of the peak")
    parser.add_argument("--seconds", type=float, default=15.0, help="length of each load")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="parley-load-") as name:
        directory = Path(name)
        directory.chmod(0o711)  # the database's account must be able to pass
        stack = Stack(
            directory,
            rate=options.rate,
            settings={"PARLEY_MAX_QUEUED_GENERATIONS": str(options.queue)},
            max_concurrency=options.at_once,
        )
        with stack:
            keys = {name: stack.key_of_plan(plan, name) for name, plan in CUSTOMERS.items()}
            peak = options.at_once * options.rate / options.tokens
            print(
                f"The upstream serves {options.at_once} answers at once,"
                f" {peak:.0f} a second at its peak."
            )
            for times in options.times:
                offered = asyncio.run(
                    _offer(
                        stack.web_url,
                        keys,
                        times * peak,
                        options.seconds,
                        options.tokens,
                        few=min(1 / 3, _FEW_OF_PEAK / times),
                    )
                )
                _report(times, peak, offered)


async def _offer(
    url: str, keys: dict[str, str], rate: float, seconds: float, tokens: int, *, few: float
) -> Offered:
    """Requests at `rate` a second for `seconds`, then wait for the last to end."""
    origin = Origin(url)
    late_s: list[float] = []
    clock = asyncio.create_task(_note_lateness(late_s))
    tasks: list[asyncio.Task[RequestOutcome]] = []
    started = time.monotonic()
    while (now := time.monotonic() - started) < seconds:
        customer = _customer(len(tasks), few)
        tasks.append(asyncio.create_task(_ask(origin, customer, keys[customer], tokens)))
        await asyncio.sleep(max(0.0, now + random.expovariate(rate) - time.monotonic() + started))
    outcomes = await asyncio.gather(*tasks)
    took = time.monotonic() - started
    clock.cancel()
    origin.close()
    return Offered(outcomes, took, late_s)


async def _note_lateness(late_s: list[float]) -> None:
    """How late this process comes back to what has happened, until it is cancelled."""
    while True:
        due = time.monotonic() + _CLOCK_S
        await asyncio.sleep(_CLOCK_S)
        late_s.append(time.monotonic() - due)


def _customer(number: int, few: float) -> str:
    """Whose the request `number` is, where `few` of all are the small customer's."""
    if int((number + 1) * few) > int(number * few):
        return "few"
    return "premium" if number % 2 else "free"


async def _ask(origin: Origin, customer: str, key: str, tokens: int) -> RequestOutcome:
    body = orjson.dumps(
        {
            "model": MODEL,
            "messages": [{"role": "user", "content": "Count for me, please."}],
            "max_tokens": tokens,
            "stream": True,
        }
    )
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    started = time.monotonic()
    try:
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            return await _read(origin, customer, headers, body)
    except Exception as error:  # whatever it is, the load goes on and the report shows it
        return RequestOutcome(customer, type(error).__name__, time.monotonic() - started)


async def _read(
    origin: Origin, customer: str, headers: dict[str, str], body: bytes
) -> RequestOutcome:
    started = time.monotonic()
    response = await origin.request("POST", "/v1/chat/completions", headers=headers, body=body)
    if response.status != 200:
        await response.read()
        took = time.monotonic() - started
        return RequestOutcome(customer, str(response.status), took, _server_s(response))
    decoder = EventDecoder()
    first: float | None = None
    done = False
    while received := await response.read_some():
        for event in decoder.feed(received):
            if first is None:
                first = time.monotonic() - started
            done = event == b"[DONE]"
    whole = first is not None and done
    return RequestOutcome(customer, "served" if whole else "broken", first or 0.0)


def _server_s(response: Response) -> float:
    """By the answer's `Server-Timing`."""
    timing = response.headers.get("server-timing", "")
    return float(timing.rpartition("total;dur=")[2] or 0) / 1e3


def _report(times: float, peak: float, offered: Offered) -> None:
    outcomes, took = offered.outcomes, offered.took
    served = [outcome for outcome in outcomes if outcome.status == "served"]
    print(
        f"\n{times:g} times the peak: {len(outcomes)} requests in {took:.0f} s,"
        f" {len(served) / took:.1f} served a second ({len(served) / took / peak:.0%} of the peak)"
    )
    for (customer, status), count in sorted(
        Counter((o.customer, o.status) for o in outcomes).items()
    ):
        group = [o for o in outcomes if (o.customer, o.status) == (customer, status)]
        what = "first event" if status == "served" else "refused"
        print(
            f"  {customer:<8} {status:<8} {count:>6}   {what} {_after([o.seconds for o in group])}"
        )
    if refused := [outcome for outcome in outcomes if outcome.status != "served"]:
        print(f"  all refused       {len(refused):>6}   {_after([o.seconds for o in refused])}")
        print(f"  by the server's clock    {_after([o.server_s for o in refused])}")
    print(f"  this process is late     {_after(offered.late_s)}")


def _after(seconds: list[float]) -> str:
    seconds = sorted(seconds)
    return (
        f"after {statistics.median(seconds) * 1e3:.0f} ms in the median,"
        f" {seconds[int(len(seconds) * 0.99)] * 1e3:.0f} ms at p99"
    )


if __name__ == "__main__":
    main()
