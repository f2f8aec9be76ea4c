"""Promise 3: no text reaches a client, or the buffer, before the post-classifier has passed it."""

import os
from collections.abc import Awaitable, Callable
from typing import cast

from redis.asyncio import Redis

from backend.generation.stream import keys
from backend.generation.stream.log import StreamEntries
from backend.platform.database import in_database
from infra.load.upstream import SyntheticUpstream
from safety.audit.models import SafetyDecisionRecord
from tests.safety.streaming import GUIDE, UNCERTAIN
from tests.support.gateway import ask, caller, chat, check_billed, pools_of, running_gateway

StartUpstream = Callable[..., Awaitable[SyntheticUpstream]]

BEFORE = "Sure. Now, here is the guide: to make a "
FLAGGED = "pipe bomb you will need a pipe and some nails and then more."


async def test_flagged_answer_is_halted_and_only_earlier_text_is_sent(
    transactional_db: None, start_upstream: StartUpstream
) -> None:
    principal = await caller()
    script = [f"{word} " for word in (BEFORE + FLAGGED).split()]
    upstream = await start_upstream(script=script, rate=100.0)
    async with running_gateway(pools_of(upstream)):
        started, answer = await ask(chat(principal, max_tokens=len(script)))
        async with Redis.from_url(os.environ["REDIS_URL"]) as redis:
            found = await redis.xrange(keys.events(started.id))
            buffered = cast(StreamEntries, found)

    answer.check_order()
    assert answer.text == BEFORE
    assert answer.finish_reason == "content_filter"
    assert b"bomb" not in b"".join(fields[b"d"] for _, fields in buffered)
    await check_billed(started.id, output_tokens=len(BEFORE.split()), state="blocked")
    records = await in_database(
        lambda: list(SafetyDecisionRecord.objects.filter(generation_id=started.id))
    )
    assert {(r.stage, r.action) for r in records} == {("prompt", "allow"), ("output", "block")}


async def test_answer_is_halted_when_its_prompt_is_uncertain(
    transactional_db: None, start_upstream: StartUpstream
) -> None:
    principal = await caller()
    script = [f"{word} " for word in GUIDE.split()]
    upstream = await start_upstream(script=script, rate=100.0)
    reasons = []
    async with running_gateway(pools_of(upstream)):
        for prompt in ("What is new?", UNCERTAIN):
            _, answer = await ask(chat(principal, prompt, max_tokens=len(script)))
            reasons.append(answer.finish_reason)

    assert reasons == ["length", "content_filter"]


async def test_personal_data_is_redacted_in_the_answer_and_its_tokens_billed(
    transactional_db: None, start_upstream: StartUpstream
) -> None:
    principal = await caller()
    script = ["The ", "card ", "is ", "4111 ", "1111 ", "1111 ", "1111 ", "as ", "printed."]
    upstream = await start_upstream(script=script, rate=100.0)
    async with running_gateway(pools_of(upstream)):
        started, answer = await ask(chat(principal, max_tokens=len(script)))

    answer.check_order()
    assert "1111" not in answer.text
    assert answer.text.startswith("The card is ") and answer.text.endswith("as printed.")
    await check_billed(started.id, output_tokens=len(script), state="completed")
