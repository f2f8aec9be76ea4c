"""POST /v1/chat/completions over real HTTP, streamed and not."""

from __future__ import annotations

import json

import openai
import pytest

from tests.inference.serving import MODEL_NAME, Served

pytestmark = pytest.mark.model


def stream(served: Served, content: str, **fields) -> list[dict]:
    body = {"messages": [{"role": "user", "content": content}], "temperature": 0, "stream": True}
    events = []
    with served.http.stream("POST", "/v1/chat/completions", json=body | fields) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        for line in response.iter_lines():
            if line:
                assert line.startswith("data: ")
                events.append(line.removeprefix("data: "))
    assert events.pop() == "[DONE]"
    return [json.loads(event) for event in events]


def joined(events: list[dict], index: int = 0) -> str:
    return "".join(
        choice["delta"].get("content", "")
        for event in events
        for choice in event["choices"]
        if choice["index"] == index
    )


def test_openai_client_streams(served):
    client = openai.OpenAI(base_url=f"{served.url}/v1", api_key="none")
    answer = client.chat.completions.create(
        model=MODEL_NAME,
        messages=[{"role": "user", "content": "What is the capital of France?"}],
        temperature=0,
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(answer)
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert "Paris" in text
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens > 3
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"


def test_streamed_answer_equals_the_whole_one(served):
    whole = served.chat("Name three colours.", max_tokens=12).json()
    events = stream(served, "Name three colours.", max_tokens=12)
    assert joined(events) == whole["choices"][0]["message"]["content"]
    assert events[0]["choices"][0]["delta"]["role"] == "assistant"
    assert events[-1]["choices"][0]["finish_reason"] == "length"


def test_continuous_usage_counts_up_in_every_chunk(served):
    options = {"include_usage": True, "continuous_usage_stats": True}
    events = stream(served, "Count to five.", max_tokens=8, stream_options=options)
    counts = [event["usage"]["completion_tokens"] for event in events]
    assert counts == sorted(counts)
    assert counts[0] == 1
    assert counts[-2:] == [8, 8]
    assert events[-1]["choices"] == []
    assert {event["usage"]["prompt_tokens"] for event in events} == {34}


def test_usage_counts_cached_tokens(served):
    question = "A question asked twice, so that its prefix is cached: " + "why? " * 30
    first, second = (served.chat(question, max_tokens=2).json()["usage"] for _ in range(2))
    assert first["prompt_tokens"] == second["prompt_tokens"] > 64
    cached = second["prompt_tokens_details"]["cached_tokens"]
    assert cached >= 64
    assert first["prompt_tokens_details"]["cached_tokens"] < cached


def test_stop_string_across_tokens_is_never_sent(served):
    answer = served.chat("What is the capital of France?", max_tokens=20).json()
    text = answer["choices"][0]["message"]["content"]
    assert text.startswith("The capital of France")
    # Begins in the middle of one token, ends in the middle of another.
    events = stream(served, "What is the capital of France?", max_tokens=20, stop="pital of Fra")
    assert joined(events) == "The ca"
    assert events[-1]["choices"][0]["finish_reason"] == "stop"


def test_beginning_of_a_stop_string_is_sent_when_the_rest_differs(served):
    events = stream(served, "What is the capital of France?", max_tokens=4, stop=["France is not"])
    whole = served.chat("What is the capital of France?", max_tokens=4).json()
    assert joined(events) == whole["choices"][0]["message"]["content"]


def test_no_chunk_holds_half_a_character(served):
    """A row of emoji, several tokens each, is what the model goes on writing."""
    body = {"prompt": "🦖" * 12, "temperature": 0, "max_tokens": 12, "stream": True}
    with served.http.stream("POST", "/v1/completions", json=body) as response:
        lines = [line for line in response.iter_lines() if line and "[DONE]" not in line]
    chunks = [json.loads(line[6:])["choices"][0]["text"] for line in lines]
    text = "".join(chunks)
    assert text.count("🦖") >= 3
    assert len(chunks) < 12, "no token waited for its character's others"
    assert "\ufffd" not in "".join(chunks[:-1])


def test_final_message_is_continued(served):
    body = {
        "messages": [
            {"role": "user", "content": "What is the capital of France?"},
            {"role": "assistant", "content": "The capital of"},
        ],
        "temperature": 0,
        "max_tokens": 3,
    }
    continued = served.http.post(
        "/v1/chat/completions", json=body | {"continue_final_message": True}
    ).json()
    assert continued["choices"][0]["message"]["content"] == " France is Paris"
    refused = served.http.post(
        "/v1/chat/completions",
        json=body | {"continue_final_message": True, "add_generation_prompt": True},
    )
    assert refused.status_code == 400
    assert refused.json()["error"]["param"] == "add_generation_prompt"


def test_n_choices_differ_and_a_seed_repeats_them(served):
    asked = {"n": 3, "temperature": 1.2, "seed": 11, "max_tokens": 8}
    one, two = (served.chat("Tell me something.", **asked).json() for _ in range(2))
    texts = [choice["message"]["content"] for choice in one["choices"]]
    assert [choice["index"] for choice in one["choices"]] == [0, 1, 2]
    assert len(set(texts)) > 1
    assert texts == [choice["message"]["content"] for choice in two["choices"]]
    alone = served.chat("Tell me something.", **(asked | {"n": 1})).json()
    assert alone["choices"][0]["message"]["content"] == texts[0]
    assert one["usage"]["completion_tokens"] == 24
    assert one["usage"]["prompt_tokens"] == alone["usage"]["prompt_tokens"]


def test_logprobs_explain_the_text(served):
    answer = served.chat(
        "What is the capital of France?", max_tokens=5, logprobs=True, top_logprobs=3
    ).json()["choices"][0]
    entries = answer["logprobs"]["content"]
    spelled = b"".join(bytes(entry["bytes"]) for entry in entries)
    assert spelled.decode() == answer["message"]["content"]
    for entry in entries:
        assert entry["logprob"] <= 0
        assert len(entry["top_logprobs"]) == 3
        assert entry["top_logprobs"][0]["token"] == entry["token"]


def test_ignore_eos_and_min_tokens_are_honoured(served):
    short = served.chat("What is the capital of France?", max_tokens=12).json()
    assert short["choices"][0]["finish_reason"] == "stop"
    longer = served.chat("What is the capital of France?", max_tokens=12, ignore_eos=True).json()
    assert longer["usage"]["completion_tokens"] == 12
    least = served.chat("What is the capital of France?", max_tokens=12, min_tokens=11).json()
    assert least["usage"]["completion_tokens"] >= 11


def test_x_request_id_is_passed_through(served):
    response = served.http.post(
        "/v1/chat/completions",
        json={"messages": [{"role": "user", "content": "hi"}], "max_tokens": 1},
        headers={"X-Request-Id": "trace-123"},
    )
    assert response.headers["x-request-id"] == "trace-123"


@pytest.mark.parametrize("stream", [False, True])
def test_log_probabilities_of_half_a_character_wait_for_the_whole(tiny_served, stream):
    """Its first byte would show a part of a stop string."""
    body = {
        "messages": [{"role": "user", "content": "hi"}],
        "guided_choice": ["aé"],
        "stop": "é",
        "logprobs": True,
        "stream": stream,
    }
    response = tiny_served.http.post("/v1/chat/completions", json=body)
    if stream:
        events = [line.removeprefix("data: ") for line in response.text.split("\n\n")[:-2]]
        choices = [json.loads(event)["choices"][0] for event in events]
    else:
        choices = response.json()["choices"]
    shown = [e["token"] for c in choices if c["logprobs"] for e in c["logprobs"]["content"]]
    assert shown == ["a"]
    assert choices[-1]["finish_reason"] == "stop"


def test_continued_message_goes_on_with_the_same_random_numbers(served):
    asked = {"role": "user", "content": "Tell me about lamps."}
    sampling = {"temperature": 0.9, "seed": 11, "presence_penalty": 0.5, "ignore_eos": True}
    whole = served.http.post(
        "/v1/chat/completions",
        json={"messages": [asked], "max_tokens": 24, "logprobs": True, **sampling},
    ).json()["choices"][0]
    tokens = [entry["token"] for entry in whole["logprobs"]["content"]]
    begun = "".join(tokens[:12])
    body = {
        "messages": [asked, {"role": "assistant", "content": begun}],
        "continue_final_message": True,
        "add_generation_prompt": False,
        "max_tokens": 12,
        **sampling,
    }
    rest = served.http.post("/v1/chat/completions", json=body).json()["choices"][0]
    assert begun + rest["message"]["content"] == whole["message"]["content"]
