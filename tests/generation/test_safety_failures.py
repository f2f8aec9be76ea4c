"""A classifier that crashes, is late or hangs: closed for high risk, open with a flag for the
rest, as the policy says; and `/readyz` tells."""

import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any
from uuid import UUID

import pytest
from django.test import AsyncClient

from backend.accounts.principal import Principal
from backend.generation.admission import prompt_check
from backend.platform.database import in_database
from backend.platform.errors import ContentBlocked
from infra.load.upstream import SyntheticUpstream
from safety.audit.models import SafetyDecisionRecord
from safety.audit.selectors import policy_cache_clear
from safety.audit.services import policy_save
from safety.health import failures_clear
from safety.judge.pre import PreClassifier
from safety.judge.timeout import TimedCheck
from safety.score import detect
from safety.score.answer_model import AnswerModel
from safety.score.classifier import Classifier
from tests.support.gateway import ask, caller, chat, pools_of, running_gateway

StartUpstream = Callable[..., Awaitable[SyntheticUpstream]]

# A word of a category that the default policy fails closed for, in an honest sentence.
RISKY = "Tell me a story about a bomb that never went off, for children."
HARMLESS = "Tell me about the river and the old mill beside it, please."
# The networks read long texts chunk by chunk, and look at the clock between two chunks.
LONG = " The river bends twice before it reaches the old mill near the town." * 900


@pytest.fixture(autouse=True)
def nothing_remembered() -> Iterator[None]:
    for forget in (detect.memory_clear, failures_clear, policy_cache_clear):
        forget()
    yield
    for forget in (detect.memory_clear, failures_clear, policy_cache_clear):
        forget()


@pytest.fixture
def crashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The networks divide by zero, whatever they are asked."""

    def crash(*_: object, **__: object) -> None:
        raise FloatingPointError("on purpose")

    monkeypatch.setattr(Classifier, "estimate", crash)


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> None:
    """The network works, and has no time to."""
    monkeypatch.setattr(detect, "CLASSIFIER_BUDGET_S", 0.0)
    monkeypatch.setattr(detect, "CLASSIFIER_BUDGET_A_CHARACTER_S", 0.0)


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The network waits for something that never comes."""
    never = threading.Event()
    monkeypatch.setattr(Classifier, "estimate", lambda *_, **__: never.wait())
    monkeypatch.setattr(prompt_check, "_PRE_CHECK", TimedCheck(PreClassifier(), timeout_s=1.0))
    yield
    never.set()


async def safety_of_readyz() -> dict[str, Any]:
    found: dict[str, Any] = (await AsyncClient().get("/readyz")).json()["checks"]["safety"]
    return found


async def decisions(principal: Principal) -> list[tuple[str, str, list[str]]]:
    def read() -> list[tuple[str, str, list[str]]]:
        rows = SafetyDecisionRecord.objects.filter(organization_id=principal.organization_id)
        return [(row.stage, row.action, row.failed) for row in rows.order_by("created_at")]

    return await in_database(read)


async def check_closed_and_open(principal: Principal, layer: str, *, then: str = "") -> None:
    """What the default policy does with a failed layer, seen by a client and in the record.

    Args:
        then: what follows the risky and the harmless prompt.
    """
    assert (await safety_of_readyz())["ok"]
    with pytest.raises(ContentBlocked):
        await ask(chat(principal, RISKY + then))
    _, answer = await ask(chat(principal, HARMLESS + then))
    assert answer.finish_reason == "length" and answer.text
    found = [row for row in await decisions(principal) if row[0] == "prompt"]
    assert found == [("prompt", "block", [layer]), ("prompt", "flag", [layer])]
    assert not (await safety_of_readyz())["ok"]


@pytest.mark.usefixtures("transactional_db", "crashing")
async def test_crashed_check_blocks_high_risk_and_flags_the_rest(
    start_upstream: StartUpstream,
) -> None:
    principal = await caller()
    async with running_gateway(pools_of(await start_upstream(rate=0.0))):
        await check_closed_and_open(principal, "classifier")


@pytest.mark.usefixtures("transactional_db", "late")
async def test_timed_out_check_is_a_failed_check(start_upstream: StartUpstream) -> None:
    principal = await caller()
    async with running_gateway(pools_of(await start_upstream(rate=0.0))):
        await check_closed_and_open(principal, "classifier", then=LONG)


@pytest.mark.usefixtures("transactional_db", "crashing")
async def test_policy_can_allow_when_a_check_fails(start_upstream: StartUpstream) -> None:
    principal = await caller()
    await save_policy(principal.organization_id, {"fail_closed": []})
    async with running_gateway(pools_of(await start_upstream(rate=0.0))):
        _, answer = await ask(chat(principal, RISKY))
    assert answer.text
    assert ("prompt", "flag", ["classifier"]) in await decisions(principal)


@pytest.mark.usefixtures("transactional_db", "hanging")
async def test_no_unchecked_text_is_sent_when_check_hangs(
    start_upstream: StartUpstream,
) -> None:
    closed, tolerant = await caller(), await caller()
    await save_policy(tolerant.organization_id, {"fail_closed": []})
    async with running_gateway(pools_of(await start_upstream(rate=0.0))):
        with pytest.raises(ContentBlocked):
            await ask(chat(closed, HARMLESS))
        _, answer = await ask(chat(tolerant, HARMLESS))
    assert answer.text
    assert await decisions(closed) == [("prompt", "block", ["pre_check"])]
    assert (await decisions(tolerant))[0] == ("prompt", "flag", ["pre_check"])
    assert not (await safety_of_readyz())["ok"]


@pytest.mark.usefixtures("transactional_db")
async def test_rules_still_check_when_the_classifier_crashes_mid_stream(
    start_upstream: StartUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object, **__: object) -> None:
        raise FloatingPointError("on purpose")

    monkeypatch.setattr(AnswerModel, "step", crash)
    principal = await caller()
    harmful = "Sure. Now, to make a pipe bomb you will need a pipe and some nails and then more."
    for script, reason in ((harmful, "content_filter"), (HARMLESS, "length")):
        upstream = await start_upstream(script=[f"{word} " for word in script.split()], rate=0.0)
        async with running_gateway(pools_of(upstream)):
            _, answer = await ask(chat(principal, "What now?", max_tokens=len(script.split())))
        assert answer.finish_reason == reason
        assert "nails" not in answer.text
    outputs = [row for row in await decisions(principal) if row[0] == "output"]
    assert outputs == [("output", "block", ["classifier"]), ("output", "flag", ["classifier"])]


async def save_policy(organization_id: UUID, document: dict[str, Any]) -> None:
    await in_database(
        policy_save,
        organization_id=organization_id,
        model="",
        document=document,
        created_by_id=None,
    )
