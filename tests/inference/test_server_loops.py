"""A chat that has gone into a loop is ended and says so; what was sent until then is untouched."""

from __future__ import annotations

import json

import pytest

from inference.text.generation_config import load_chat_defaults
from tests.inference.serving import Served

pytestmark = pytest.mark.model

# Greedy, the small model names the same few over and over (as in loops/real.jsonl), and soon.
PROMPT = "List countries."
# An answer that has begun to: few tokens more, and it is a loop.
BEGUN = {
    "messages": [
        {"role": "user", "content": PROMPT},
        {"role": "assistant", "content": "* Antarctica\n" * 44},
    ],
    "temperature": 0,
    "continue_final_message": True,
}


def ask(served: Served, **fields) -> dict:
    return served.http.post("/v1/chat/completions", json=BEGUN | fields).json()


@pytest.fixture(scope="module")
def endless(served: Served) -> dict:
    """The same answer, not ended."""
    return ask(served, max_tokens=40, stop_on_loop=False)


@pytest.fixture(scope="module")
def ended(served: Served) -> dict:
    """The answer as it is by default."""
    return ask(served, max_tokens=40)


def test_loop_is_ended_and_counted_to_the_token(served: Served, ended: dict, endless: dict) -> None:
    answer = ended
    choice = answer["choices"][0]
    assert choice["finish_reason"] == "length", "as OpenAI has it: not complete"
    assert choice["finish_details"]["type"] == "loop"
    assert choice["finish_details"]["repeats"] >= 4
    text = choice["message"]["content"]
    assert endless["choices"][0]["message"]["content"].startswith(text), "greedy until it ends"
    assert 20 < answer["usage"]["completion_tokens"] < 36
    asked = {"prompt": text, "add_special_tokens": False}
    tokens = served.http.post("/tokenize", json=asked).json()["tokens"]
    assert answer["usage"]["completion_tokens"] == len(tokens)


def test_loop_that_is_wanted_goes_on(endless: dict) -> None:
    assert endless["usage"]["completion_tokens"] == 40
    assert endless["choices"][0]["finish_reason"] == "length"
    assert "finish_details" not in endless["choices"][0]


def streamed(served: Served, body: dict) -> tuple[dict, str, dict]:
    """The last choice, the whole text and the usage."""
    body = body | {"stream": True, "stream_options": {"include_usage": True}}
    with served.http.stream("POST", "/v1/chat/completions", json=body) as response:
        lines = [line.removeprefix("data: ") for line in response.iter_lines() if line]
    events = [json.loads(line) for line in lines[:-1]]
    last = next(e["choices"][0] for e in reversed(events) if e["choices"])
    text = "".join(c["delta"].get("content", "") for e in events for c in e["choices"])
    return last, text, events[-1]["usage"]


def test_stream_ends_with_the_details(served: Served, ended: dict) -> None:
    last, text, usage = streamed(served, BEGUN | {"max_tokens": 40})
    assert last["finish_reason"] == "length"
    assert last["finish_details"]["type"] == "loop"
    assert text == ended["choices"][0]["message"]["content"]
    assert usage["completion_tokens"] == ended["usage"]["completion_tokens"]
    served.wait_until_idle()


def test_answer_that_begins_by_itself_is_ended_too(served: Served) -> None:
    messages = [{"role": "user", "content": PROMPT}]
    body = {"messages": messages, "temperature": 0, "max_tokens": 320}
    last, _, usage = streamed(served, body)
    assert last["finish_details"]["type"] == "loop"
    assert usage["completion_tokens"] < 300


def test_every_choice_ends_for_itself(served: Served) -> None:
    answer = ask(served, max_tokens=40, n=2)
    assert [choice["finish_details"]["type"] for choice in answer["choices"]] == ["loop", "loop"]


def test_continued_loop_ends_at_once(served: Served) -> None:
    messages = [
        {"role": "user", "content": PROMPT},
        {"role": "assistant", "content": "* Antarctica\n" * 60},
    ]
    body = {
        "messages": messages,
        "temperature": 0,
        "max_tokens": 300,
        "continue_final_message": True,
    }
    answer = served.http.post("/v1/chat/completions", json=body).json()
    assert answer["choices"][0]["finish_details"]["type"] == "loop"
    assert answer["usage"]["completion_tokens"] < 20


def test_requested_repetition_is_not_ended(served: Served) -> None:
    messages = [
        {"role": "user", "content": "Write '* Antarctica' 80 times."},
        {"role": "assistant", "content": "* Antarctica\n" * 60},
    ]
    body = {
        "messages": messages,
        "temperature": 0,
        "max_tokens": 30,
        "continue_final_message": True,
    }
    answer = served.http.post("/v1/chat/completions", json=body).json()
    assert answer["usage"]["completion_tokens"] == 30


def test_minimum_length_is_kept(served: Served) -> None:
    answer = ask(served, max_tokens=40, min_tokens=36)
    assert answer["usage"]["completion_tokens"] == 36


def test_text_completion_is_ended_only_where_that_is_asked(served: Served) -> None:
    body = {"prompt": "* Antarctica\n" * 30, "temperature": 0, "max_tokens": 200}
    assert (
        served.http.post("/v1/completions", json=body).json()["usage"]["completion_tokens"] == 200
    )
    # The model goes on with a loop of its own; one of the prompt's words is its reader's wish.
    asked = {"prompt": "The", "temperature": 0, "max_tokens": 260, "stop_on_loop": True}
    ended = served.http.post("/v1/completions", json=asked).json()
    assert ended["choices"][0]["finish_details"]["type"] == "loop"
    assert ended["usage"]["completion_tokens"] < 260


def test_model_without_a_generation_config_has_no_defaults(model_path) -> None:
    assert load_chat_defaults(str(model_path)) == {}
