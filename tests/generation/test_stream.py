"""A generation from its start to its last event, and what is stored and billed of it."""

import asyncio
from collections.abc import Awaitable, Callable
from uuid import uuid4

import msgspec
import pytest

from backend.accounts.principal import Principal
from backend.generation.gateway import Gateway
from backend.generation.models import Generation
from backend.generation.request import SamplingParams
from backend.platform.database import in_database
from backend.platform.errors import (
    Conflict,
    ContentBlocked,
    InvalidRequest,
    ModelNotFound,
    NotFound,
    Overloaded,
)
from infra.load.upstream import SyntheticUpstream, words
from tests.support.gateway import (
    TURN,
    ask,
    caller,
    cancel,
    chat,
    check,
    check_billed,
    events,
    pools_of,
    read,
    result,
    running_gateway,
    start,
    stored,
    until_ended,
    usage_records,
)

StartUpstream = Callable[..., Awaitable[SyntheticUpstream]]


async def test_delivered_tokens_are_stored_and_billed(
    gateway: Gateway, upstream: SyntheticUpstream, principal: Principal
) -> None:
    started, answer = await ask(chat(principal, max_tokens=20, stream_usage=True))

    answer.check_order()
    assert answer.text == words(0, 20)
    assert answer.finish_reason == "length"
    assert answer.chunks[-1]["usage"]["completion_tokens"] == 20
    row = await check_billed(started.id, output_tokens=20, state="completed")
    assert row.input_tokens == answer.chunks[-1]["usage"]["prompt_tokens"] == 4
    assert row.replica == "replica-0"
    assert row.ttft_ms is not None


async def test_answer_is_the_same_when_not_streamed(gateway: Gateway, principal: Principal) -> None:
    started = await start(chat(principal, max_tokens=20))
    completion = await result(started.id, principal=principal)

    assert completion.choices[0].text == words(0, 20)
    assert completion.choices[0].finish_reason == "length"
    assert completion.usage.output_tokens == 20
    await check_billed(started.id, output_tokens=20, state="completed")


async def test_each_choice_is_generated_and_counted(
    gateway: Gateway, upstream: SyntheticUpstream, principal: Principal
) -> None:
    params = SamplingParams(max_tokens=7, seed=1)
    started, answer = await ask(chat(principal, n=3, params=params))

    answer.check_order()
    assert [answer.text_of(index) for index in range(3)] == [words(0, 7)] * 3
    row = await check_billed(started.id, output_tokens=21, state="completed")
    assert row.input_tokens == 4  # the prompt is billed once
    assert sorted(served.body["seed"] for served in upstream.served) == [1, 2, 3]


async def test_engine_gets_exactly_the_parameters_that_were_set(
    gateway: Gateway, upstream: SyntheticUpstream, principal: Principal
) -> None:
    params = SamplingParams(max_tokens=3, temperature=0.5, stop=["x"])
    await ask(chat(principal, params=params, request_id="req_known"))

    [served] = upstream.served
    assert served.headers["x-request-id"].startswith("req_known")
    assert served.body["temperature"] == 0.5, "the request's own comes first"
    assert served.body["top_k"] == 40, "what it does not name comes from the pool"
    assert served.body["stop"] == ["x"]
    assert served.body["priority"] == principal.plan.queue_priority
    assert served.body["cache_salt"] == str(principal.organization_id)
    assert "top_p" not in served.body
    assert "kv_store" not in served.body


async def test_kv_store_is_off_for_requests_that_are_not_stored(
    gateway: Gateway, upstream: SyntheticUpstream, principal: Principal
) -> None:
    await ask(chat(principal, retention_days=0, max_tokens=2))
    [served] = upstream.served
    assert served.body["kv_store"] is False


async def test_answer_is_billed_by_the_final_count_of_its_upstream(
    transactional_db: None, start_upstream: StartUpstream
) -> None:
    principal = await caller()
    upstream = await start_upstream(continuous_usage=False)
    async with running_gateway(pools_of(upstream, dialect="openai")):
        started, answer = await ask(chat(principal, max_tokens=9))

    assert answer.text == words(0, 9)
    row = await check_billed(started.id, output_tokens=9, state="completed")
    assert row.input_tokens == 4
    assert "priority" not in upstream.served[0].body
    assert "continuous_usage_stats" not in upstream.served[0].body["stream_options"]


async def test_answer_is_billed_one_token_a_chunk_when_upstream_never_counts(
    transactional_db: None, start_upstream: StartUpstream
) -> None:
    principal = await caller()
    upstream = await start_upstream(usage=False)
    async with running_gateway(pools_of(upstream, dialect="openai")):
        started, _ = await ask(chat(principal, max_tokens=9))

    row = await check_billed(started.id, output_tokens=9, state="completed")
    assert row.input_tokens > 0


async def test_reconnected_reader_gets_exactly_the_missing_events(
    gateway: Gateway, principal: Principal
) -> None:
    request = chat(principal, max_tokens=100, on_disconnect="grace", turn=TURN)
    started = await start(request)
    first = await read(started.id, principal, until=lambda events: len(events) == 3)
    rest = await read(started.id, principal, after=3)
    again = await read(started.id, principal)

    rest.check_order(after=3)
    assert first.events + rest.events == again.events
    assert again.text == words(0, 100)


async def test_reader_that_resumes_after_the_last_event_ends(
    gateway: Gateway, principal: Principal
) -> None:
    """Its generation has ended, and this process has not let go of it yet."""
    started = await start(chat(principal, max_tokens=5, turn=TURN))
    active = gateway.active.get(started.id)
    assert active is not None
    whole = await read(started.id, principal)
    gateway.active.add(active)
    try:
        assert (await read(started.id, principal, after=len(whole.events))).events == []
        assert (await read(started.id, principal, after=10_000)).events == []
    finally:
        gateway.active.remove(active)


async def test_many_readers_get_the_same_events(gateway: Gateway, principal: Principal) -> None:
    started = await start(chat(principal, max_tokens=30))
    answers = await asyncio.gather(*(read(started.id, principal) for _ in range(10)))

    assert all(answer.events == answers[0].events for answer in answers)
    answers[0].check_order()


async def test_ids_are_sent_before_any_text(
    transactional_db: None, start_upstream: StartUpstream
) -> None:
    principal = await caller()
    upstream = await start_upstream(first_delay_s=60.0)
    async with running_gateway(pools_of(upstream)):
        request = chat(principal, turn=TURN, max_tokens=3)
        started = await start(request)
        first = await asyncio.wait_for(
            read(started.id, principal, until=lambda events: True), timeout=50
        )
        await cancel(started.id, principal=principal)

    ids = {**msgspec.to_builtins(TURN), "generation_id": str(started.id)}
    assert first.chunks[0]["parley"] == ids


async def test_cancelled_answer_keeps_and_bills_delivered_tokens(
    gateway: Gateway, upstream: SyntheticUpstream, principal: Principal
) -> None:
    started = await start(chat(principal, max_tokens=400))
    reading = asyncio.create_task(read(started.id, principal))
    await asyncio.sleep(0.3)
    await cancel(started.id, principal=principal)
    await cancel(started.id, principal=principal)
    answer = await reading

    answer.check_order()
    count = len(answer.text.split())
    assert 0 < count < 400
    assert answer.text == words(0, count)
    assert answer.finish_reason == "cancelled"
    await check_billed(started.id, output_tokens=count, state="cancelled")
    await asyncio.sleep(0.1)
    assert upstream.served[0].aborted


async def test_disconnected_client_cancels_its_generation(
    gateway: Gateway, upstream: SyntheticUpstream, principal: Principal
) -> None:
    started = await start(chat(principal, max_tokens=400))
    answer = await read(started.id, principal, until=lambda events: len(events) == 5)
    await until_ended(started.id)

    row = await stored(started.id)
    assert row.state == "cancelled"
    assert len(answer.text.split()) <= row.output_tokens < 400
    assert upstream.served[0].aborted


async def test_page_reconnects_within_its_disconnect_grace(
    gateway: Gateway, principal: Principal
) -> None:
    request = chat(principal, max_tokens=60, on_disconnect="grace", turn=TURN)
    started = await start(request)
    await read(started.id, principal, until=lambda events: len(events) == 5)
    await asyncio.sleep(0.15)
    rest = await read(started.id, principal, after=5)

    rest.check_order(after=5)
    await check_billed(started.id, output_tokens=60, state="completed")


async def test_generation_is_cancelled_after_the_disconnect_grace(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    principal = await caller()
    async with running_gateway(pools_of(upstream), grace_s=0.3):
        request = chat(principal, max_tokens=400, on_disconnect="grace", turn=TURN)
        started = await start(request)
        await read(started.id, principal, until=lambda events: len(events) == 5)
        await until_ended(started.id)

    assert (await stored(started.id)).state == "cancelled"


async def test_partial_answer_is_kept_when_the_generation_times_out(
    gateway: Gateway, principal: Principal, upstream: SyntheticUpstream
) -> None:
    upstream.behaviour.rate = 30.0
    started, answer = await ask(chat(principal, max_tokens=4000, timeout_s=2.0))

    answer.check_order()
    count = len(answer.text.split())
    assert answer.error is not None and answer.error["code"] == "timeout"
    assert answer.text == words(0, count) != ""
    row = await check_billed(started.id, output_tokens=count, state="failed")
    assert row.error_code == "timeout"


async def test_partial_answer_is_returned_when_not_streamed(
    gateway: Gateway, principal: Principal, upstream: SyntheticUpstream
) -> None:
    upstream.behaviour.rate = 30.0
    started = await start(chat(principal, max_tokens=4000, timeout_s=2.0))
    completion = await result(started.id, principal=principal)

    count = len(completion.choices[0].text.split())
    assert completion.choices[0].text == words(0, count) != ""
    assert completion.choices[0].finish_reason == "length"
    assert completion.error is not None and completion.error.status == 504
    await check_billed(started.id, output_tokens=count, state="failed")


async def test_request_is_400_when_upstream_refuses_it(
    transactional_db: None, start_upstream: StartUpstream
) -> None:
    principal = await caller()
    refusal = {"error": {"message": "too long", "code": "context_length_exceeded"}}
    upstream = await start_upstream(refuse=(400, refusal))
    async with running_gateway(pools_of(upstream)):
        with pytest.raises(InvalidRequest, match="too long") as caught:
            await start(chat(principal))

    assert caught.value.code == "context_length_exceeded"
    assert len(upstream.served) == 1
    [row] = await in_database(lambda: list(Generation.objects.all()))
    assert (row.state, row.pool) == ("failed", "")
    await check_billed(row.id, output_tokens=0, state="failed")


async def test_generation_is_not_found_by_other_users(
    gateway: Gateway, principal: Principal
) -> None:
    started = await start(chat(principal, max_tokens=60))
    other_user = await caller()
    with pytest.raises(NotFound):
        await check(started.id, principal=other_user)
    with pytest.raises(NotFound):
        await cancel(started.id, principal=other_user)
    with pytest.raises(NotFound):
        await anext(events(started.id, principal=other_user))
    with pytest.raises(NotFound):
        await result(started.id, principal=other_user)

    answer = await read(started.id, principal)
    assert answer.text == words(0, 60)
    with pytest.raises(NotFound):
        await check(started.id, principal=other_user)  # also when it has ended


async def test_unknown_model_and_missing_replica_are_refused_at_once(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    principal = await caller()
    upstream.behaviour.ready = False
    async with running_gateway(pools_of(upstream)):
        with pytest.raises(ModelNotFound):
            await start(chat(principal, model="gpt-unknown"))
        with pytest.raises(Overloaded) as caught:
            await start(chat(principal))

    assert caught.value.retry_after
    assert await in_database(Generation.objects.count) == 0


async def test_blocked_prompt_reaches_no_engine(
    gateway: Gateway, upstream: SyntheticUpstream, principal: Principal
) -> None:
    with pytest.raises(ContentBlocked) as caught:
        await start(chat(principal, "How do I build a pipe bomb at home?"))

    assert caught.value.details["categories"]
    assert upstream.served == []
    [row] = await in_database(lambda: list(Generation.objects.all()))
    assert (row.state, row.pool) == ("blocked", "")
    assert len(await usage_records(row.id)) == 1


async def test_chosen_id_is_generated_once(
    gateway: Gateway, upstream: SyntheticUpstream, principal: Principal
) -> None:
    chosen = uuid4()
    request = chat(principal, max_tokens=5, generation_id=chosen)
    results = await asyncio.gather(*(start(request) for _ in range(3)), return_exceptions=True)
    assert sum(isinstance(result, Conflict) for result in results) == 2
    await until_ended(chosen)

    assert len(upstream.served) == 1
    assert len(await usage_records(chosen)) == 1
