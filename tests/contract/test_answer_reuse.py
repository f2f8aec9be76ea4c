"""Reused answers through OpenAI's own client, the running product and the real model."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import openai
import pytest

from tests.api.users import Person, sign_up
from tests.support.product import Product

pytestmark = pytest.mark.model
HELLO: Any = [{"role": "user", "content": "Say hello to everybody in the room."}]


@dataclass(frozen=True)
class Caller:
    """Somebody new, in an organization of their own."""

    person: Person
    client: openai.OpenAI
    product: Product

    def reuses(self, cache: str, **changes: Any) -> None:
        body = {"shares_running": True, "answer_cache": cache, "answer_cache_s": 600, **changes}
        answer = self.person.browser.put("/api/data-policy/reuse", json=body)
        assert answer.status_code == 200, answer.text
        assert answer.json()["answer_cache"] == cache

    def ask(self, text: str | None = None, **options: Any) -> Any:
        """The answer with its headers."""
        messages = HELLO if text is None else [{"role": "user", "content": text}]
        given = {"model": "smollm2-135m", "temperature": 0, "max_completion_tokens": 4}
        create = self.client.chat.completions.with_raw_response.create
        return create(messages=messages, **{**given, **options})


def caller_of(product: Product) -> Iterator[Caller]:
    person = sign_up(product.url)
    secret = str(person.new_key()["secret"])
    with openai.OpenAI(
        base_url=f"{product.url}/v1", api_key=secret, max_retries=0, timeout=120
    ) as client:
        yield Caller(person, client, product)
    person.browser.close()


@pytest.fixture
def caller(product: Product) -> Iterator[Caller]:
    yield from caller_of(product)


@pytest.fixture
def outsider(product: Product) -> Iterator[Caller]:
    yield from caller_of(product)


def test_stored_answer_is_given_to_an_identical_request_and_billed_as_cached(
    caller: Caller, outsider: Caller
) -> None:
    assert "x-cache" not in caller.ask().headers
    caller.reuses("exact")
    outsider.reuses("exact")
    first = caller.ask()
    second = caller.ask()
    assert (first.headers["x-cache"], second.headers["x-cache"]) == ("miss", "exact")
    computed, reused = first.parse(), second.parse()
    assert reused.id != computed.id
    assert reused.choices[0].message.content == computed.choices[0].message.content
    usage = reused.usage
    assert usage.prompt_tokens_details.cached_tokens == usage.prompt_tokens > 0
    assert usage.completion_tokens_details.cached_tokens == usage.completion_tokens > 0
    rows = caller.product.rows(
        "SELECT cached_output_tokens, output_tokens FROM billing_usagerecord"
        " WHERE organization_id = %s ORDER BY occurred_at",
        [caller.person.organization_id],
    )
    assert [row["cached_output_tokens"] for row in rows] == [0, 0, rows[2]["output_tokens"]]
    assert outsider.ask().headers["x-cache"] == "miss"


def test_stored_answer_is_streamed(caller: Caller) -> None:
    caller.reuses("exact")
    whole = caller.ask().parse().choices[0]
    raw = caller.ask(stream=True, stream_options={"include_usage": True})
    assert raw.headers["x-cache"] == "exact"
    chunks = list(raw.parse())
    said = [c.choices[0].delta.content or "" for c in chunks if c.choices]
    assert "".join(said) == whole.message.content
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == whole.finish_reason
    assert chunks[-1].usage.completion_tokens_details.cached_tokens > 0


def test_caller_can_ask_for_a_computed_answer(caller: Caller) -> None:
    caller.reuses("exact")
    caller.ask()
    for directive in ("no-cache", "no-store"):
        anew = caller.ask(extra_headers={"Cache-Control": directive})
        assert anew.headers.get("x-cache") in {None, "miss"}
        details = anew.parse().usage.completion_tokens_details
        assert getattr(details, "cached_tokens", 0) == 0
    assert caller.ask().headers["x-cache"] == "exact"


def test_identical_request_follows_the_one_that_runs(caller: Caller) -> None:
    options: Any = {
        "stream": True,
        "max_completion_tokens": 120,
        "extra_body": {"ignore_eos": True},
    }
    with caller.ask(**options).parse() as first:
        begun = next(iter(first))
        raw = caller.ask(**options)
        assert raw.headers["x-cache"] == "shared"
        rest = list(first)
        followed = list(raw.parse())
    said = [
        "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
        for chunks in ([begun, *rest], followed)
    ]
    assert said[0] == said[1] != ""
    assert followed[0].id != begun.id


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"answer_cache": "all"}, "answer_cache"),
        ({"answer_cache_s": 5}, "answer_cache_s"),
        ({"answer_cache_s": 10**9}, "answer_cache_s"),
        ({"sampled": True}, "sampled"),
    ],
)
def test_setting_that_cannot_be_is_refused(caller: Caller, change: Any, param: str) -> None:
    body = {"shares_running": True, "answer_cache": "off", **change}
    answer = caller.person.browser.put("/api/data-policy/reuse", json=body)
    assert answer.status_code in {400, 422}, answer.text
    assert param in str(answer.json()["error"]["param"])


def test_answer_that_its_caller_deleted_is_computed_anew(caller: Caller) -> None:
    caller.reuses("exact")
    stored = caller.ask(store=True).parse()
    caller.client.chat.completions.delete(stored.id)
    assert caller.ask().headers["x-cache"] == "miss"


def test_temporary_chat_neither_stores_nor_gets_an_answer(caller: Caller) -> None:
    caller.reuses("exact", reuses_sampled=True)
    said = []
    for temporary in (True, False, True, False):
        conversation_id = caller.person.new_conversation(temporary=temporary)
        turn = caller.person.browser.post(
            f"/api/conversations/{conversation_id}/messages",
            json={"content": "Say hello.", "max_tokens": 4},
        )
        assert turn.status_code == 200, turn.text
        said.append(turn.headers.get("x-cache"))
    assert said == [None, "miss", None, "exact"]
