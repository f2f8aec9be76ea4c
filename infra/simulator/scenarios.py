"""What is asked of the simulated fleet: 10,000 GPUs, 500,000 people at once.

Each scenario is a list of runs that differ in one thing. A run simulates one replica in `part` and
one person in `part` (tests/infra/simulator compares a part with the whole); counts and dollars are
multiplied again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from inference.config import SchedulerConfig
from infra.autoscaling import ScalingLimits
from infra.simulator.fleet import Event, Fleet, FleetSpec
from infra.simulator.ledger import Figures, Ledger
from infra.simulator.people import DAY_S, REGIONS, Crowd, People
from infra.simulator.step_times import StepTimes, load

HARDWARE = "llama-3.3-70b-fp8-h100x2"
GPUS = 10_000
PEOPLE = 500_000
GATEWAYS = 100
PLACES = 96
SCHEDULER = SchedulerConfig(max_num_seqs=256, max_num_batched_tokens=8192, mixed_step_tokens=2048)
MAX_WAITING = 50_000
_BUSIEST_HOUR = 16.0
_WARM_S = 600.0


@dataclass(frozen=True)
class Run:
    """One run of a scenario; `herd_at`: when everybody asks at once."""

    label: str
    spec: FleetSpec
    crowd: Crowd
    lasts_s: float
    events: tuple[Event, ...] = ()
    herd_at: float | None = None
    counts_from_s: float = 0.0


@dataclass(frozen=True)
class Result:
    run: Run
    ledger: Ledger
    figures: Figures
    part: int
    failed_tries: int
    most_waiting: int
    replicas: int
    gpus: int = 2


@dataclass(frozen=True)
class Scenario:
    """`explains`: one sentence for the reader of its table."""

    name: str
    explains: str
    runs: Callable[[StepTimes], list[Run]]
    every_s: float = field(default=60.0)


def simulate(
    scenario: Scenario, part: int, seed: int = 1, window_s: float | None = None
) -> list[Result]:
    """One run after the other; `window_s` in place of their own."""
    runs = scenario.runs(load(HARDWARE))
    if window_s is not None:
        runs = [replace(run, spec=replace(run.spec, window_s=window_s)) for run in runs]
    return [_simulate(run, part, seed, scenario.every_s) for run in runs]


def _simulate(run: Run, part: int, seed: int, every_s: float) -> Result:
    spec = run.spec
    scaling = spec.scaling
    if scaling is not None:
        scaling = replace(
            scaling,
            min_replicas=max(1, scaling.min_replicas // part),
            max_replicas=max(1, scaling.max_replicas // part),
        )
    spec = replace(
        spec,
        replicas=spec.replicas // part,
        max_waiting=spec.max_waiting // part,
        scaling=scaling,
    )
    people = People(
        replace(run.crowd, at_once=run.crowd.at_once // part), np.random.default_rng(seed)
    )
    ledger = Ledger(run.lasts_s, every_s)
    fleet = Fleet(spec, people, ledger, seed)
    events = list(run.events)
    if run.herd_at is not None:
        events.append((run.herd_at, lambda _: people.herd(run.herd_at or 0.0, 10.0)))
        events.append((run.herd_at + 15.0, lambda _: people.disperse()))
    fleet.run(run.lasts_s, events)
    begin = int(run.counts_from_s / every_s)
    return Result(
        run,
        ledger,
        ledger.figures(begin),
        part,
        fleet.health.tries_failed * part,
        fleet.most_waiting * part,
        spec.replicas * part,
        spec.times.gpus,
    )


def _spec(times: StepTimes, **changed: object) -> FleetSpec:
    """All GPUs serve, unless something scales them."""
    spec = FleetSpec(
        times,
        GPUS // times.gpus,
        places=PLACES,
        max_waiting=MAX_WAITING,
        scheduler=SCHEDULER,
        gateways=GATEWAYS,
        regions=tuple(region.share for region in REGIONS),
    )
    return replace(spec, **changed)  # type: ignore[arg-type]


def _limits(times: StepTimes, target_use: float = 0.7) -> ScalingLimits:
    most = GPUS // times.gpus
    return ScalingLimits(min_replicas=100, max_replicas=most, places=PLACES, target_use=target_use)


def _busy(**changed: float) -> Crowd:
    return replace(Crowd(PEOPLE), first_hour=_BUSIEST_HOUR, **changed)  # type: ignore[arg-type]


def _region(fleet: Fleet, number: int) -> np.ndarray:
    return np.asarray(fleet.capacity.region == number)


def _day(times: StepTimes) -> list[Run]:
    spec = _spec(times)
    scaled = [
        Run(
            f"autoscaler, {use:.0%} of places",
            replace(spec, scaling=_limits(times, use)),
            Crowd(PEOPLE),
            DAY_S,
        )
        for use in (0.3, 0.7)
    ]
    return [Run("all GPUs all day", spec, Crowd(PEOPLE), DAY_S), *scaled]


def _policies(times: StepTimes) -> list[Run]:
    return [
        Run(name, _spec(times, routing=name), _busy(), 3000.0, counts_from_s=_WARM_S)
        for name in ("prefix", "least_loaded", "round_robin", "random")
    ]


def _processes(times: StepTimes) -> list[Run]:
    """Each web process has its part of a replica's places: of 96 among 100 it is one."""
    return [
        Run(
            f"{gateways} web processes",
            _spec(times, gateways=gateways),
            _busy(),
            3000.0,
            counts_from_s=_WARM_S,
        )
        for gateways in (8, 32, GATEWAYS)
    ]


def _outage(times: StepTimes) -> list[Run]:
    """The region with most replicas is away from minute 20 to minute 40."""

    def lose(fleet: Fleet) -> None:
        fleet.lose(_region(fleet, 0))

    def bring_back(fleet: Fleet) -> None:
        fleet.bring_back(_region(fleet, 0))

    events: tuple[Event, ...] = ((1200.0, lose), (2400.0, bring_back))
    return [
        Run(
            label,
            _spec(times, has_ramp=has_ramp),
            _busy(),
            4200.0,
            events,
            counts_from_s=1200,
        )
        for label, has_ramp in (("ramp", True), ("no ramp", False))
    ]


def _herd(times: StepTimes) -> list[Run]:
    return [
        Run(
            f"{room:,} may wait",
            _spec(times, max_waiting=room),
            _busy(),
            2100.0,
            herd_at=_WARM_S,
            counts_from_s=_WARM_S,
        )
        for room in (MAX_WAITING, 10 * MAX_WAITING)
    ]


def _sick(times: StepTimes) -> list[Run]:
    """One replica in fifty answers its probes and fails every generation, from minute ten on."""

    def fall_ill(fleet: Fleet) -> None:
        fleet.health.sick[::50] = True

    return [
        Run(
            label,
            _spec(times, has_breaker=has_breaker),
            _busy(),
            2400.0,
            ((_WARM_S, fall_ill),),
            counts_from_s=_WARM_S,
        )
        for label, has_breaker in (("breaker", True), ("no breaker", False))
    ]


def _price(times: StepTimes) -> list[Run]:
    """At noon an hour in the first region costs three times as much, until the day's end. At 30 %
    of places all GPUs serve by then, and none can be moved: 70 % leaves some."""

    def change(fleet: Fleet) -> None:
        fleet.capacity.prices[0] *= 3

    spec = _spec(times, scaling=_limits(times, 0.7))
    return [
        Run(
            label,
            replace(spec, follows_price=follows),
            Crowd(PEOPLE),
            DAY_S,
            ((DAY_S / 2, change),),
            counts_from_s=DAY_S / 2,
        )
        for label, follows in (("stays", False), ("follows the price", True))
    ]


SCENARIOS: dict[str, Scenario] = {
    one.name: one
    for one in (
        Scenario("day", "A day of traffic, with and without the autoscaler.", _day, 300.0),
        Scenario("policies", "Forty minutes of the busiest hour.", _policies),
        Scenario("processes", "The same, by the web processes that share it.", _processes),
        Scenario("outage", "The largest region, 40 % of replicas, is away 20 minutes.", _outage),
        Scenario("herd", "500,000 people ask within ten seconds.", _herd, 30.0),
        Scenario("sick", "One replica in fifty fails all that it is sent.", _sick),
        Scenario("price", "At noon the largest region's price triples.", _price, 300.0),
    )
}


def names() -> Sequence[str]:
    return list(SCENARIOS)
