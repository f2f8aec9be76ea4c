"""A model is tried on a part of another one's requests, and taken back where it does worse."""

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from backend.accounts.principal import Principal
from backend.audit.models import AuditEvent
from backend.generation.admission.canary import CANARY_HEADER
from backend.generation.gateway import Gateway
from backend.generation.models import Rollout
from backend.generation.pools.config import PoolConfig, Pools
from backend.generation.pools.rollouts import Trial, rollout_save, trials_read
from backend.generation.pools.trial import Answers, Margins, latency_bucket, worse_by
from backend.platform.database import in_database
from billing.models import UsageRecord
from billing.prices.loading import clear_price_cache
from billing.prices.services import prices_seed
from infra.load.upstream import SyntheticUpstream
from tests.factories import MODEL
from tests.support.gateway import (
    Answer,
    ask,
    caller,
    chat,
    pools_of,
    running_gateway,
    stored,
)

MARGINS = Margins(failures=0.05, slow=0.15, min_answers=20)
CANDIDATE = "candidate"


class Stream:
    """Answers that fail and begin late by chance, counted as a trial counts them."""

    def __init__(self, seed: int, *, failures: float, median_ms: float) -> None:
        self._chance = random.Random(seed)
        self._failures = failures
        self._median_ms = median_ms
        self.answers = Answers()

    def answer(self) -> None:
        self.answers.count += 1
        if self._chance.random() < self._failures:
            self.answers.failed += 1
        else:
            ttft = self._median_ms * self._chance.lognormvariate(0, 0.5)
            self.answers.ttft[latency_bucket(round(ttft))] += 1


def retreats_after(seed: int, failures: float, slowdown: float, answers: int = 2000) -> int | None:
    """How many answers of the candidate it takes, with as many of the usual model; None: never."""
    stable = Stream(seed, failures=0.02, median_ms=300)
    tried = Stream(-seed - 1, failures=failures, median_ms=300 * slowdown)
    for _ in range(100):
        stable.answer()
    for count in range(1, answers + 1):
        stable.answer()
        tried.answer()
        if worse_by(stable.answers, tried.answers, MARGINS):
            return count
    return None


def test_candidate_that_is_as_good_stays() -> None:
    retreats = [retreats_after(seed, 0.02, 1.0) for seed in range(30)]
    assert sum(count is not None for count in retreats) <= 1


@pytest.mark.parametrize(
    ("failures", "slowdown", "within"), [(0.12, 1.0, 400), (0.5, 1.0, 40), (0.02, 2.0, 100)]
)
def test_candidate_that_is_worse_is_found_early(
    failures: float, slowdown: float, within: int
) -> None:
    """In nine of ten trials."""
    found = [retreats_after(seed, failures, slowdown) for seed in range(30)]
    assert sum(count is not None and count <= within for count in found) >= 27


def test_nothing_is_decided_before_enough_answers() -> None:
    failing = Answers(count=19, failed=19)
    assert worse_by(Answers(), failing, MARGINS) == ""
    failing.count = failing.failed = 20
    assert "20 of 20 answers failed" in worse_by(Answers(), failing, MARGINS)


def models(stable: SyntheticUpstream, tried: SyntheticUpstream, **changes: Any) -> Pools:
    (usual,) = pools_of(stable).models
    (other,) = pools_of(tried).models
    candidate: PoolConfig = replace(other, id=CANDIDATE, aliases=(), **changes)
    return Pools((usual, candidate))


def price(model: str, amount: str) -> None:
    prices_seed(prices={model: dict.fromkeys(("input", "cached_input", "output"), amount)})
    clear_price_cache()


@pytest.fixture
async def tried(start_upstream: Any) -> SyntheticUpstream:
    upstream: SyntheticUpstream = await start_upstream()
    return upstream


@pytest.fixture
async def gateway(
    transactional_db: None, upstream: SyntheticUpstream, tried: SyntheticUpstream
) -> AsyncIterator[Gateway]:
    await in_database(price, MODEL, "0.001")
    async with running_gateway(models(upstream, tried)) as running:
        yield running


async def try_candidate(gateway: Gateway, *, costs: str = "0.001", **changes: Any) -> None:
    await in_database(price, CANDIDATE, costs)
    fields = {"model": "auto", "candidate": CANDIDATE, "percent": 50.0, **changes}

    def save() -> None:
        rollout_save(Rollout(**fields), by=uuid4())

    await in_database(save)
    await gateway.rollouts.judge()


async def counted(gateway: Gateway, answers: int) -> tuple[Trial, Answers, Answers]:
    """What came of so many, which are counted just after their readers have seen the end."""
    [trial] = gateway.rollouts.trials.values()
    async with asyncio.timeout(30):
        while True:
            stable, candidate = await gateway.rollouts.answers(trial)
            if stable.count + candidate.count == answers:
                return trial, stable, candidate
            await asyncio.sleep(0.02)


async def asked(principal: Principal, text: str, model: str = "auto") -> tuple[Any, Answer]:
    return await ask(chat(principal, text, model=model, max_tokens=2))


async def test_half_of_the_conversations_go_to_the_candidate_and_stay_there(
    gateway: Gateway,
) -> None:
    principal = await caller()
    await try_candidate(gateway)
    first = [(await asked(principal, f"Question {n}"))[0] for n in range(40)]
    share = sum(one.model == CANDIDATE for one in first) / len(first)
    assert 0.2 < share < 0.8
    for one in first:
        assert one.headers.get(CANARY_HEADER) == (MODEL if one.model == CANDIDATE else None)
        assert (await stored(one.id)).model == one.model
    again = [(await asked(principal, f"Question {n}"))[0] for n in range(10)]
    assert [one.model for one in again] == [one.model for one in first[:10]]
    named = [(await asked(principal, f"Question {n}", MODEL))[0] for n in range(3)]
    assert {one.model for one in named} == {MODEL}, "who names a model gets it"
    _, stable, candidate = await counted(gateway, 50)
    assert (stable.failed, candidate.failed) == (0, 0)
    assert candidate.ttft.total() == candidate.count


async def test_candidate_that_fails_is_taken_back_with_an_audit_entry(
    gateway: Gateway, tried: SyntheticUpstream
) -> None:
    principal = await caller()
    await try_candidate(gateway, percent=100.0, min_answers=5)
    tried.behaviour.error_after = 0
    _, answer = await asked(principal, "Question")
    assert answer.error is not None
    trial, _, candidate = await counted(gateway, 1)
    assert (candidate.count, candidate.failed) == (1, 1)
    # While all its replicas fail it is sent nothing more: these are other processes' answers.
    for _ in range(5):
        mark = gateway.rollouts.mark(trial, is_candidate=True)
        await gateway.rollouts.note(mark, failed=True, ttft_ms=None)
    await gateway.rollouts.judge()
    assert not gateway.rollouts.trials
    row = await in_database(Rollout.objects.get)
    assert not row.is_active and row.retreated_at is not None
    assert "answers failed" in row.reason
    events = await in_database(lambda: list(AuditEvent.objects.order_by("created_at")))
    assert [one.action for one in events] == ["rollout.updated", "rollout.retreated"]
    assert events[1].target_id == CANDIDATE and events[1].actor_kind == "system"
    started, answer = await asked(principal, "Question 0")
    assert started.model == MODEL and answer.error is None

    await in_database(rollout_save, row, by=uuid4())
    assert await in_database(trials_read) == {}, "it is off until staff turn it on"
    row.is_active = True
    await in_database(rollout_save, row, by=uuid4())
    await gateway.rollouts.judge()
    [trial] = gateway.rollouts.trials.values()
    assert (await gateway.rollouts.answers(trial))[1].count == 0, "counted anew"


async def test_candidate_that_costs_more_gets_no_requests(gateway: Gateway) -> None:
    principal = await caller()
    await try_candidate(gateway, costs="0.002", percent=100.0)
    started, _ = await asked(principal, "A question")
    assert (started.model, CANARY_HEADER in started.headers) == (MODEL, False)


async def test_shadow_gets_copies_that_are_neither_delivered_nor_billed(
    gateway: Gateway, tried: SyntheticUpstream
) -> None:
    principal = await caller()
    await try_candidate(gateway, costs="0.002", percent=100.0, is_shadow=True)
    started, answer = await asked(principal, "A question")
    assert (started.model, CANARY_HEADER in started.headers) == (MODEL, False)
    assert {event["model"] for event in answer.chunks} == {MODEL}
    _, stable, candidate = await counted(gateway, 2)
    assert (stable.count, candidate.count, candidate.failed) == (1, 1, 0)
    [copy] = tried.served
    assert copy.body["priority"] == 1_000
    records = await in_database(lambda: list(UsageRecord.objects.values_list("model", flat=True)))
    assert records == [MODEL]


async def test_shadow_gets_no_copy_of_what_is_not_to_be_stored(
    gateway: Gateway, tried: SyntheticUpstream
) -> None:
    principal = await caller()
    await try_candidate(gateway, percent=100.0, is_shadow=True)
    request = chat(principal, "A secret", model="auto", max_tokens=2, retention_days=0)
    await ask(request)
    await counted(gateway, 1)
    assert not gateway.shadows.tasks and not tried.served


async def test_shadow_that_fails_is_not_seen_and_is_taken_back(
    gateway: Gateway, tried: SyntheticUpstream
) -> None:
    principal = await caller()
    await try_candidate(gateway, percent=100.0, is_shadow=True, min_answers=1)
    tried.behaviour.error_after = 0
    _, answer = await asked(principal, "Question")
    assert answer.error is None
    trial, _, candidate = await counted(gateway, 2)
    assert candidate.failed == 1
    for _ in range(5):
        mark = gateway.rollouts.mark(trial, is_candidate=True)
        await gateway.rollouts.note(mark, failed=True, ttft_ms=None)
    await gateway.rollouts.judge()
    assert not gateway.rollouts.trials
