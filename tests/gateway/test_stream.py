"""A generation from its start to its last event, and what is stored and billed of it."""

from backend.accounts.principal import Principal
from backend.gateway.runtime import Gateway
from infra.load.upstream import SyntheticUpstream, words
from tests.support.gateway import ask, chat, check_billed


async def test_what_is_delivered_is_stored_and_billed(
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
