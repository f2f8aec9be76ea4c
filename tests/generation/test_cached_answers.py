"""Stored answers: which requests get them, for how long they are kept, and who can read them."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from backend.accounts.data_policy import data_policy_set
from backend.accounts.legal_hold import legal_hold_begin
from backend.accounts.models import AnswerCache
from backend.accounts.principal import Principal
from backend.generation.gateway import Gateway
from backend.generation.models import CachedAnswer, Generation
from backend.generation.request import SamplingParams
from backend.generation.reuse.answers import answer_get, answer_store, answers_purge
from backend.generation.reuse.plan import ReusableAnswer
from backend.generation.tasks import purge_cached_answers
from backend.platform.database import in_database
from infra.load.upstream import SyntheticUpstream, words
from safety.audit.selectors import policy_cache_clear
from safety.audit.services import policy_save
from tests.factories import conversation_of
from tests.support.gateway import TURN, ask, caller, cancel, start, until_ended
from tests.support.reuse import check_computed, check_reused, greedy, reuse

TOKENS = 40


async def rows() -> list[CachedAnswer]:
    return await in_database(lambda: list(CachedAnswer.objects.all()))


async def test_identical_request_gets_the_stored_answer(
    gateway: Gateway, principal: Principal, upstream: SyntheticUpstream
) -> None:
    await reuse(principal)
    request = greedy(principal, stream_usage=True)
    first, computed = await ask(request)
    second, again = await ask(request)
    again.check_order()
    assert again.text == computed.text == words(0, TOKENS)
    assert again.finish_reason == computed.finish_reason
    assert len(upstream.served) == 1
    assert (first.headers["X-Cache"], second.headers["X-Cache"]) == ("miss", "exact")
    await check_computed(first.id, tokens=TOKENS)
    await check_reused(second.id, tokens=TOKENS, source="exact")
    assert again.chunks[-1]["usage"]["completion_tokens_details"]["cached_tokens"] == TOKENS


async def test_thought_of_a_stored_answer_is_delivered_as_one(
    gateway: Gateway, principal: Principal, upstream: SyntheticUpstream
) -> None:
    await reuse(principal)
    upstream.behaviour.thoughts = 10
    request = greedy(principal)
    await ask(request)
    second, again = await ask(request)
    said = [part["delta"] for chunk in again.chunks for part in chunk["choices"]]
    assert "".join(delta.get("reasoning_content", "") for delta in said) == words(0, 10)
    assert again.text == words(10, TOKENS)
    await check_reused(second.id, tokens=TOKENS, source="exact")


async def test_nothing_is_stored_unless_the_organization_wants_it(
    gateway: Gateway, principal: Principal, upstream: SyntheticUpstream
) -> None:
    for _ in range(2):
        await ask(greedy(principal))
    assert len(upstream.served) == 2
    assert await rows() == []


async def test_lifetime_ends(
    gateway: Gateway, principal: Principal, upstream: SyntheticUpstream
) -> None:
    await reuse(principal, lifetime_s=60)
    await ask(greedy(principal))
    [row] = await rows()
    assert timedelta(seconds=59) < row.expires_at - row.created_at <= timedelta(seconds=60)
    await in_database(CachedAnswer.objects.update, expires_at=timezone.now())
    second, _ = await ask(greedy(principal))
    assert len(upstream.served) == 2
    await check_computed(second.id, tokens=TOKENS)
    [renewed] = await rows()
    assert renewed.generation_id == second.id


async def test_call_that_stores_nothing_leaves_no_answer(
    gateway: Gateway, principal: Principal, upstream: SyntheticUpstream
) -> None:
    await reuse(principal)
    await ask(greedy(principal, retention_days=0))
    assert await rows() == []
    await in_database(
        data_policy_set,
        principal=principal,
        retention_days=None,
        stores_api_calls=False,
        allows_training=True,
    )
    await ask(greedy(principal))
    assert await rows() == []
    assert len(upstream.served) == 2


async def test_answer_is_kept_no_longer_than_the_organization_keeps_calls(
    gateway: Gateway, principal: Principal
) -> None:
    await reuse(principal, lifetime_s=7 * 86_400)
    await in_database(
        data_policy_set,
        principal=principal,
        retention_days=1,
        stores_api_calls=True,
        allows_training=True,
    )
    await ask(greedy(principal))
    [row] = await rows()
    assert row.expires_at - row.created_at == timedelta(days=1)


async def test_another_organization_gets_nothing_of_it(
    gateway: Gateway, principal: Principal, upstream: SyntheticUpstream
) -> None:
    """Not by the same request, and not by a row that was copied to it."""
    outsider = await caller()
    await reuse(principal)
    await reuse(outsider)
    await ask(greedy(principal))
    second, _ = await ask(greedy(outsider))
    assert len(upstream.served) == 2
    await check_computed(second.id, tokens=TOKENS)
    ours, theirs = await in_database(
        lambda: [
            CachedAnswer.objects.get(organization_id=one.organization_id)
            for one in (principal, outsider)
        ]
    )
    assert ours.digest != theirs.digest
    await in_database(CachedAnswer.objects.filter(pk=theirs.pk).update, ciphertext=ours.ciphertext)
    found = await in_database(
        answer_get, organization_id=outsider.organization_id, digest=theirs.digest, revision=None
    )
    assert found is None
    third, _ = await ask(greedy(outsider))
    await check_computed(third.id, tokens=TOKENS)


async def test_answer_is_encrypted(gateway: Gateway, principal: Principal) -> None:
    await reuse(principal)
    await ask(greedy(principal))
    [row] = await rows()
    stored = "".join(str(getattr(row, field.attname)) for field in row._meta.concrete_fields)
    assert "w1 w2" not in stored and "Name the words" not in stored
    assert row.ciphertext.startswith("v")


async def test_policy_that_changed_gets_no_answer_of_before(
    gateway: Gateway, principal: Principal, upstream: SyntheticUpstream
) -> None:
    await reuse(principal)
    await ask(greedy(principal))
    await in_database(
        policy_save,
        organization_id=principal.organization_id,
        model="",
        document={"redact": ["email"]},
        created_by_id=None,
    )
    policy_cache_clear()
    second, _ = await ask(greedy(principal))
    assert len(upstream.served) == 2
    await check_computed(second.id, tokens=TOKENS)


async def test_stored_answer_passes_the_post_check_again(
    gateway: Gateway, principal: Principal, upstream: SyntheticUpstream
) -> None:
    """What the classifiers know today counts, not what they knew when it was stored."""
    await reuse(principal)
    await ask(greedy(principal))
    [row] = await rows()
    harmful = "Sure. Now, here is the guide: to make a pipe bomb you will need a pipe and nails."
    await in_database(
        answer_store,
        principal=principal,
        generation_id=row.generation_id,
        model=row.model,
        digest=row.digest,
        revision=row.revision,
        answer=ReusableAnswer(harmful, 4, 20, 0, "stop"),
        lifetime=timedelta(hours=1),
    )
    second, answer = await ask(greedy(principal))
    assert answer.finish_reason == "content_filter"
    assert "bomb" not in answer.text
    assert (await until_ended(second.id)).state == "blocked"


@pytest.mark.parametrize("reuse_of", ["refresh", "never"])
async def test_caller_can_have_it_computed_anew(
    gateway: Gateway, principal: Principal, upstream: SyntheticUpstream, reuse_of: Any
) -> None:
    await reuse(principal)
    await ask(greedy(principal))
    [before] = await rows()
    second, _ = await ask(greedy(principal, reuse=reuse_of))
    await check_computed(second.id, tokens=TOKENS)
    [after] = await rows()
    assert after.generation_id == (second.id if reuse_of == "refresh" else before.generation_id)
    third, _ = await ask(greedy(principal))
    await check_reused(third.id, tokens=TOKENS, source="exact")


async def test_sampled_answers_are_stored_where_that_is_wanted(
    gateway: Gateway, principal: Principal, upstream: SyntheticUpstream
) -> None:
    sampled = replace(greedy(principal), params=SamplingParams(max_tokens=TOKENS, temperature=0.7))
    await reuse(principal)
    for _ in range(2):
        await ask(sampled)
    assert len(upstream.served) == 2
    await reuse(principal, sampled=True)
    for _ in range(2):
        last, _ = await ask(sampled)
    assert len(upstream.served) == 3
    await check_reused(last.id, tokens=TOKENS, source="exact")


async def test_cancelled_answer_is_not_stored(
    gateway: Gateway, principal: Principal, upstream: SyntheticUpstream
) -> None:
    await reuse(principal)
    upstream.behaviour.rate = 10.0
    started = await start(greedy(principal, turn=TURN))
    await cancel(started.id, principal=principal)
    await until_ended(started.id)
    assert await rows() == []


async def test_answer_that_cannot_be_read_is_computed(
    gateway: Gateway, principal: Principal, upstream: SyntheticUpstream
) -> None:
    await reuse(principal)
    await ask(greedy(principal))
    await in_database(CachedAnswer.objects.update, ciphertext="v9.AAAA")
    second, _ = await ask(greedy(principal))
    await check_computed(second.id, tokens=TOKENS)


async def test_purge_deletes_what_no_request_gets(gateway: Gateway, principal: Principal) -> None:
    held, kept = await caller(), await caller()
    for one in (principal, held, kept):
        await reuse(one)
        await ask(greedy(one))
    await in_database(
        legal_hold_begin, reason="Court of X, 4 U 12/26", organization_id=held.organization_id
    )
    past = timezone.now() - timedelta(seconds=1)
    expired = {principal.organization_id, held.organization_id}
    await in_database(
        CachedAnswer.objects.filter(organization_id__in=expired).update, expires_at=past
    )
    assert await in_database(purge_cached_answers) == 1
    assert {row.organization_id for row in await rows()} == {
        held.organization_id,
        kept.organization_id,
    }
    chat_is_gone = Generation.objects.filter(organization_id=kept.organization_id)
    gone = await in_database(conversation_of, kept, deleted_at=timezone.now())
    await in_database(chat_is_gone.update, conversation_id=gone.pk)
    assert await in_database(answers_purge) == 1
    await ask(greedy(kept))
    await reuse(kept, cache=AnswerCache.OFF)
    assert await in_database(answers_purge) == 1
    assert [row.organization_id for row in await rows()] == [held.organization_id]
