"""One answer is one trace, from the client into the engine and back."""

import re
import secrets
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.api.event_stream import read_events
from tests.api.users import Person, sign_up
from tests.support.otlp_receiver import OtlpReceiver, Span
from tests.support.product import Product
from tests.support.scripted import ScriptedProduct

PROMPT = "Zyzzyva weevils: write to weevil.keeper@example.com about them."
ENGINE = {"engine", "queue", "prefill", "first_token", "decode"}
WEB = {"generation", "edge", "admission", "pre_check", "queue", "attempt", "prefill", "decode"}
MALFORMED = (
    "nonsense",
    "00-" + "0" * 32 + "-00f067aa0ba902b7-01",
    "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
    "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
)


@pytest.fixture
def author(live_product: Product) -> Iterator[Person]:
    user = sign_up(live_product.url)
    yield user
    user.browser.close()


def program_of(user: Person) -> httpx.Client:
    headers = {"Authorization": f"Bearer {user.new_key()['secret']}"}
    return httpx.Client(base_url=user.browser.base_url, headers=headers, timeout=120)


def client_trace() -> tuple[str, str, str]:
    """Ids of a trace and of a span that a client begins, and their header."""
    trace_id, span_id = secrets.token_hex(16), secrets.token_hex(8)
    return trace_id, span_id, f"00-{trace_id}-{span_id}-01"


def chat(**options: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": PROMPT}]
    return {"model": "auto", "messages": messages, "max_tokens": 4, **options}


def is_whole(spans: list[Span]) -> bool:
    names = {span.name for span in spans}
    return names >= WEB | {"engine"} and "decode" in {s.name for s in spans if is_engine(s)}


def is_engine(span: Span) -> bool:
    return span.service == "parley-engine"


def check_tree(spans: list[Span], client_span: str) -> None:
    """Parents are there and enclose their children, by the clock that all share."""
    by_id = {span.id: span for span in spans}
    assert {span.name for span in spans if not is_engine(span)} >= WEB
    assert {span.name for span in spans if is_engine(span)} == ENGINE
    [whole] = [span for span in spans if span.parent_id == client_span]
    assert whole.name == "generation"
    for span in spans:
        if span is not whole:
            assert span.parent_id in by_id, span
        assert span.begin <= span.end
    [engine] = [span for span in spans if span.name == "engine"]
    assert by_id[engine.parent_id].name == "attempt"
    stations = [span for span in spans if span.parent_id == engine.id]
    assert sum(s.end - s.begin for s in stations) <= engine.end - engine.begin + 1_000_000


def check_no_content(spans: list[Span], answer: str, email: str) -> None:
    # Three words together: one by itself may be a span's name, as "engine".
    words = answer.split()
    content = [
        PROMPT,
        "weevil",
        email,
        *map(" ".join, zip(words, words[1:], words[2:], strict=False)),
    ]
    for span in spans:
        assert not [text for text in content if text in span.text], span
        assert "@" not in span.text


@pytest.mark.model
def test_api_request_is_one_trace_through_web_and_engine(
    author: Person, otlp_receiver: OtlpReceiver
) -> None:
    trace_id, span_id, header = client_trace()
    with program_of(author) as program:
        answer = program.post("/v1/chat/completions", json=chat(), headers={"traceparent": header})
    assert answer.status_code == 200, answer.text
    spans = otlp_receiver.wait_for(trace_id, is_whole)
    check_tree(spans, span_id)
    check_no_content(spans, answer.json()["choices"][0]["message"]["content"], author.email)
    [whole] = [span for span in spans if span.name == "generation"]
    usage = answer.json()["usage"]
    assert whole.attributes["gen_ai.usage.output_tokens"] == usage["completion_tokens"]
    assert whole.attributes["parley.state"] == "completed"
    assert whole.attributes["gen_ai.operation.name"] == "chat"
    assert whole.attributes["gen_ai.provider.name"] == "parley"
    assert whole.attributes["gen_ai.response.finish_reasons"]


@pytest.mark.model
def test_turn_of_the_page_is_one_trace_through_web_and_engine(
    author: Person, otlp_receiver: OtlpReceiver
) -> None:
    trace_id, span_id, header = client_trace()
    path = f"/api/conversations/{author.new_conversation()}/messages"
    answer = author.browser.post(
        path, json={"content": PROMPT, "max_tokens": 4}, headers={"traceparent": header}
    )
    assert answer.status_code == 200, answer.text
    spans = otlp_receiver.wait_for(trace_id, is_whole)
    check_tree(spans, span_id)
    text = "".join(
        choice["delta"].get("content") or ""
        for event in read_events(answer.text)
        if event.data != "[DONE]"
        for choice in event.json.get("choices", ())
    )
    check_no_content(spans, text, author.email)


def test_replica_that_fails_is_an_attempt_and_the_next_one_another(
    scripted_product: ScriptedProduct, otlp_receiver: OtlpReceiver
) -> None:
    user = sign_up(scripted_product.url)
    trace_id, span_id, header = client_trace()
    scripted_product.says("Five words and some more of them.")
    scripted_product.breaks_once(after=3)
    with program_of(user) as program:
        answer = program.post("/v1/chat/completions", json=chat(), headers={"traceparent": header})
    user.browser.close()
    assert answer.status_code == 200, answer.text
    spans = otlp_receiver.wait_for(trace_id, lambda found: "generation" in map(name_of, found))
    [whole] = [span for span in spans if span.parent_id == span_id]
    first, second = sorted(
        (span for span in spans if span.name == "attempt"), key=lambda span: span.begin
    )
    assert (first.failed, second.failed, whole.failed) == (True, False, False)
    assert first.attributes["error.type"] == "ReplicaUnavailable"
    assert first.end <= second.begin
    assert scripted_product.traceparents[-2:] == [
        f"00-{trace_id}-{span.id}-01" for span in (first, second)
    ]


def test_answer_that_fails_before_it_begins_ends_its_trace_with_its_stations(
    scripted_product: ScriptedProduct, otlp_receiver: OtlpReceiver
) -> None:
    user = sign_up(scripted_product.url)
    trace_id, span_id, header = client_trace()
    scripted_product.refuses((400, {"error": {"message": PROMPT, "code": "no"}}))
    with program_of(user) as program:
        answer = program.post("/v1/chat/completions", json=chat(), headers={"traceparent": header})
    scripted_product.refuses(None)
    user.browser.close()
    assert answer.status_code == 400, answer.text
    spans = otlp_receiver.wait_for(trace_id, lambda found: "generation" in map(name_of, found))
    [whole] = [span for span in spans if span.parent_id == span_id]
    assert whole.failed
    assert whole.attributes["parley.state"] == "failed"
    assert {"admission", "queue", "prefill", "attempt"} <= {span.name for span in spans}
    check_no_content(spans, "", user.email)


def name_of(span: Span) -> str:
    return span.name


@pytest.fixture(scope="module")
def caller(scripted_product: ScriptedProduct) -> Iterator[httpx.Client]:
    user = sign_up(scripted_product.url)
    with program_of(user) as program:
        yield program
    user.browser.close()


@pytest.mark.parametrize("header", MALFORMED)
def test_malformed_traceparent_is_ignored_and_a_trace_of_our_own_begins(
    header: str, scripted_product: ScriptedProduct, caller: httpx.Client
) -> None:
    scripted_product.says("Fine.")
    answer = caller.post("/v1/chat/completions", json=chat(), headers={"traceparent": header})
    assert answer.status_code == 200, answer.text
    sent = scripted_product.traceparents[-1]
    assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", sent)
    assert "4bf92f3577b34da6a3ce929d0e0e4736" not in sent.lower()


def test_client_that_does_not_sample_gets_no_spans(
    scripted_product: ScriptedProduct, otlp_receiver: OtlpReceiver
) -> None:
    user = sign_up(scripted_product.url)
    scripted_product.says("Fine.")
    sampled, _, _ = client_trace()
    with program_of(user) as program:
        for trace_id, flags in ((unsampled := secrets.token_hex(16), "00"), (sampled, "01")):
            headers = {"traceparent": f"00-{trace_id}-{secrets.token_hex(8)}-{flags}"}
            program.post("/v1/chat/completions", json=chat(), headers=headers)
            assert scripted_product.traceparents[-1].startswith(f"00-{trace_id}-")
    user.browser.close()
    otlp_receiver.wait_for(sampled, lambda found: "generation" in map(name_of, found))
    assert otlp_receiver.trace(unsampled) == []
