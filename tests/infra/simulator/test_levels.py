"""Both levels: nothing is lost, a seed gives one run, and they agree with each other."""

from dataclasses import replace

import numpy as np
import pytest

from inference.config import SchedulerConfig
from infra.simulator.exact import ExactPool, PoolSpec, simulate
from infra.simulator.fleet import Fleet, FleetSpec
from infra.simulator.ledger import Figures, Ledger
from infra.simulator.outcomes import Outcome, Summary, summarized
from infra.simulator.people import Crowd, People, TraceSource
from infra.simulator.step_times import load
from infra.simulator.trace import Conversation, Traffic, requests_of, trace

TIMES = load("llama-3.3-70b-fp8-h100x2")
SCHEDULER = SchedulerConfig(max_num_seqs=256, max_num_batched_tokens=8192, mixed_step_tokens=2048)
EXACT = PoolSpec(TIMES, 3, places=96, scheduler=SCHEDULER, announces=False)
FLEET = FleetSpec(TIMES, 3, scheduler=SCHEDULER, window_s=0.5)
TRAFFIC = Traffic(conversations=80, per_s=5.0, scale=0.5, pause_s=2.0)
CONVERSATIONS = trace(TRAFFIC, 1)
FEW = CONVERSATIONS[:60]
_LIMIT_S = 10_000.0


def _exact(spec: PoolSpec) -> Summary:
    return summarized(simulate(spec, CONVERSATIONS, 1), spec.replicas)


def _fleet(spec: FleetSpec, conversations: list[Conversation] = CONVERSATIONS) -> Figures:
    ledger = Ledger(_LIMIT_S)
    Fleet(spec, TraceSource(conversations), ledger, 1).run(_LIMIT_S)
    return ledger.figures()


@pytest.fixture(scope="module")
def runs() -> dict[str, tuple[Summary, Figures]]:
    """The same trace at both levels, by policy."""
    return {
        routing: (
            _exact(replace(EXACT, routing=routing)),
            _fleet(replace(FLEET, routing=routing)),
        )
        for routing in ("prefix", "random")
    }


@pytest.mark.parametrize("routing", ["prefix", "random"])
def test_levels_agree_on_one_trace(routing: str, runs: dict[str, tuple[Summary, Figures]]) -> None:
    exact, fleet = runs[routing]
    assert exact.completed == fleet.completed == requests_of(CONVERSATIONS)
    assert fleet.ttft_mean_s == pytest.approx(exact.ttft_mean_s, rel=0.12)
    assert fleet.ttft_p95_s == pytest.approx(exact.ttft_p95_s, rel=0.25)
    assert fleet.cached_share == pytest.approx(exact.cached_share, abs=0.06)


def test_levels_agree_on_how_long_answers_take() -> None:
    """One replica that is full from the first to the last second."""
    busy = trace(Traffic(conversations=60, per_s=20.0, mean_turns=1.0), 2)
    outcomes = simulate(replace(EXACT, replicas=1), busy, 1)
    ledger = Ledger(_LIMIT_S)
    fleet = Fleet(replace(FLEET, replicas=1, window_s=0.25), TraceSource(busy), ledger, 1)
    fleet.run(_LIMIT_S)
    assert fleet.now == pytest.approx(max(one.done_s for one in outcomes), rel=0.03)
    assert ledger.figures().output_tokens == sum(one.output_tokens for one in outcomes)


def test_prefix_policy_is_better_than_chance_for_conversations(
    runs: dict[str, tuple[Summary, Figures]],
) -> None:
    for level in (0, 1):
        prefix, chance = runs["prefix"][level], runs["random"][level]
        assert prefix.cached_share > chance.cached_share + 0.1
        assert prefix.ttft_mean_s < 0.85 * chance.ttft_mean_s


def test_same_seed_gives_the_same_run() -> None:
    few = CONVERSATIONS[:25]
    spec = replace(EXACT, routing="random", announces=True)
    first, again, other = (simulate(spec, few, seed) for seed in (5, 5, 6))
    assert first == again
    assert first != other
    assert _fleet(replace(FLEET, routing="random"), few) == _fleet(
        replace(FLEET, routing="random"), few
    )


def _lose(pool: ExactPool) -> None:
    pool.engines["e0"].stop()


def _return(pool: ExactPool) -> None:
    pool.engines["e0"].start()


def _ends(outcomes: list[Outcome]) -> list[tuple[int, int]]:
    return sorted((one.conversation, one.turn) for one in outcomes)


def test_every_request_ends_once_though_an_engine_goes_and_comes() -> None:
    wanted = sorted((c.number, n) for c in FEW for n in range(len(c.turns)))
    outcomes = simulate(EXACT, FEW, 1, [(3.0, _lose), (10.0, _return)])
    assert _ends(outcomes) == wanted
    assert all(one.state == "completed" for one in outcomes)
    turns = {c.number: c.turns for c in FEW}
    assert all(one.output_tokens == turns[one.conversation][one.turn].answer for one in outcomes)
    moved = [one for one in outcomes if one.attempts > 1]
    assert moved
    assert any(one.replica == "e0" and one.arrived_s > 10 for one in outcomes)


def test_every_request_of_a_fleet_ends_once_though_replicas_go_and_come() -> None:
    ledger = Ledger(_LIMIT_S)
    fleet = Fleet(FLEET, TraceSource(CONVERSATIONS), ledger, 1)
    which = np.array([True, False, False])
    fleet.run(_LIMIT_S, [(5.0, lambda f: f.lose(which)), (20.0, lambda f: f.bring_back(which))])
    found = ledger.figures()
    assert found.completed == found.asked == requests_of(CONVERSATIONS)
    assert found.output_tokens == sum(t.answer for c in CONVERSATIONS for t in c.turns)
    assert fleet.in_flight == 0
    flow = fleet.flow
    assert flow.held.sum() == flow.decoding.sum() == 0
    assert flow.reserved.sum() == pytest.approx(0)
    assert flow.context.max() < 1.0


def test_full_queue_refuses_and_nothing_is_forgotten() -> None:
    crowd = Crowd(at_once=3_000, pause_s=5.0)
    people = People(crowd, np.random.default_rng(1))
    ledger = Ledger(120)
    fleet = Fleet(replace(FLEET, places=8, max_waiting=40), people, ledger, 1)
    fleet.run(120)
    found = ledger.figures()
    assert found.refused > 100
    assert len(fleet.queue) <= 40 + fleet.spec.window_s * 3_000
    assert found.asked == found.completed + found.refused + found.failed + fleet.in_flight


def test_sick_replica_is_left_alone_by_the_breaker() -> None:
    """It answers probes and fails every generation: what was asked is answered elsewhere."""

    def fail(pool: ExactPool) -> None:
        pool.engines["e1"].fails = True

    outcomes = simulate(EXACT, FEW, 1, [(0.0, fail)])
    assert all(one.state == "completed" for one in outcomes)
    assert {one.replica for one in outcomes} == {"e0", "e2"}
    tries = sum(one.attempts - 1 for one in outcomes)
    assert 4 <= tries < len(outcomes) / 8


def test_breaker_spares_a_fleet_the_tries() -> None:
    tries = {}
    for has_breaker in (True, False):
        ledger = Ledger(_LIMIT_S)
        spec = replace(FLEET, replicas=8, has_breaker=has_breaker)
        fleet = Fleet(spec, TraceSource(CONVERSATIONS), ledger, 1)
        fleet.health.sick[3] = True
        fleet.run(_LIMIT_S)
        assert ledger.figures().completed == requests_of(CONVERSATIONS)
        tries[has_breaker] = fleet.health.tries_failed
    assert 0 < tries[True] < tries[False] / 2


def test_part_of_a_fleet_gives_the_figures_of_all_of_it() -> None:
    """One replica in four, and one person in four."""
    found = []
    for part in (1, 4):
        people = People(Crowd(at_once=4_000 // part), np.random.default_rng(1))
        ledger = Ledger(300)
        spec = replace(FLEET, replicas=40 // part, window_s=1.0, gateways=20)
        Fleet(spec, people, ledger, 1).run(300)
        found.append(ledger.figures(1))
    whole, sample = found
    assert sample.ttft_mean_s == pytest.approx(whole.ttft_mean_s, rel=0.1)
    assert sample.held == pytest.approx(whole.held, rel=0.05)
    assert sample.dollars_per_million == pytest.approx(whole.dollars_per_million, rel=0.05)
