"""What ends with its organization's suspension, and what outlives no delivery."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from backend.accounts.data_policy import data_policy_set, data_rules_clear
from backend.accounts.principal import Principal
from backend.accounts.suspension import suspend_organization
from backend.generation.gateway import Gateway
from backend.generation.models import StoredAnswer
from backend.generation.recovery import ended_access
from backend.generation.stream import keys
from backend.platform.database import in_database
from backend.platform.redis import sync_client
from infra.load.upstream import SyntheticUpstream
from safety.audit.models import StoredText
from safety.audit.selectors import policy_cache_clear
from safety.audit.services import policy_save
from tests.generation.test_safety import BEFORE, FLAGGED
from tests.support.gateway import ask, caller, chat, pools_of, running_gateway, start, until_ended


def test_interval_of_the_check_is_below_the_promised_delay() -> None:
    assert ended_access.CHECK_INTERVAL_S * 2 < 10


async def test_background_generation_is_stopped_when_its_organization_is_suspended(
    gateway: Gateway, principal: Principal
) -> None:
    other = await caller()
    started = [
        await start(chat(one, on_disconnect="go_on", max_tokens=2000)) for one in (principal, other)
    ]
    assert await gateway.ended_access.round() == 0
    await in_database(
        suspend_organization, organization_id=principal.organization_id, reason="Abuse"
    )
    assert await gateway.ended_access.round() == 1
    assert (await until_ended(started[0].id)).state == "cancelled"
    running = gateway.active.get(started[1].id)
    assert running is not None
    running.request_stop("cancelled")
    await until_ended(started[1].id)


@pytest.mark.parametrize("by", ["call", "organization", "retention"])
async def test_nothing_of_an_unstored_call_outlives_its_delivery(
    transactional_db: None,
    start_upstream: Callable[..., Awaitable[SyntheticUpstream]],
    by: str,
) -> None:
    principal = await caller()
    data_rules_clear()
    policy_cache_clear()
    await in_database(
        policy_save,
        organization_id=principal.organization_id,
        model="",
        document={"store_text_days": 7},
        created_by_id=None,
    )
    upstream = await start_upstream(
        script=[f"{word} " for word in (BEFORE + FLAGGED).split()], rate=500.0
    )
    asked = {"stores_answer": True, "max_tokens": 40}
    async with running_gateway(pools_of(upstream)):
        kept, _ = await ask(chat(principal, "What is new?", **asked))
        assert await in_database(StoredText.objects.count) > 0
        assert await in_database(StoredAnswer.objects.filter(pk=kept.id).exists)
        await in_database(lambda: (StoredText.objects.all().delete(), None))
        if by != "call":
            await in_database(
                data_policy_set,
                principal=principal,
                retention_days=0 if by == "retention" else None,
                stores_api_calls=by != "organization",
                allows_training=True,
            )
        bound = {"retention_days": 0} if by == "call" else {}
        started, answer = await ask(chat(principal, "What is new?", **asked, **bound))
        assert answer.done
        await until_ended(started.id)
        async with asyncio.timeout(10):
            while sync_client().exists(keys.lease(started.id)):
                await asyncio.sleep(0.02)
    assert await in_database(StoredText.objects.count) == 0
    assert not await in_database(StoredAnswer.objects.filter(pk=started.id).exists)
    lasting_ms, unstored_ms = (sync_client().pttl(keys.events(i)) for i in (kept.id, started.id))
    assert unstored_ms <= 30_000 < lasting_ms
