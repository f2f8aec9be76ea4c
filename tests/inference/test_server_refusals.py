"""What cannot be honoured is refused at once, with the parameter's name."""

from __future__ import annotations

import threading

import httpx
import pytest

from inference.drain import drain
from tests.inference.serving import serve, wait_for

USER = [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"temperature": 2.5}, "temperature"),
        ({"temperature": "hot"}, "temperature"),
        ({"top_p": 0}, "top_p"),
        ({"n": 0}, "n"),
        ({"stop": [""]}, "stop[0]"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"top_logprobs": 2}, "top_logprobs"),
        ({"top_logprobs": 21, "logprobs": True}, "top_logprobs"),
        ({"logit_bias": {"x": 1}}, "logit_bias"),
        ({"logit_bias": {"999999": 1}}, "logit_bias"),
        ({"min_tokens": 9, "max_tokens": 3}, "min_tokens"),
        ({"tools": "weather"}, "tools"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "king", "content": "hi"}]}, "messages[0].role"),
        ({"stream_options": {"include": True}}, "stream_options.include"),
    ],
)
def test_bad_parameter_is_named(tiny_served, fields, param):
    response = tiny_served.http.post("/v1/chat/completions", json={"messages": USER} | fields)
    assert response.status_code == 400
    error = response.json()["error"]
    assert error["type"] == "invalid_request_error"
    assert error["param"] == param
    assert error["message"]


def test_body_is_refused_when_it_is_not_json(tiny_served):
    response = tiny_served.http.post("/v1/completions", content=b'{"prompt": ')
    assert response.status_code == 400
    assert "JSON" in response.json()["error"]["message"]


def test_unknown_model_is_refused(tiny_served):
    response = tiny_served.chat("hi", model="gpt-9")
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "model_not_found"


@pytest.mark.parametrize(
    "fields", [{"prompt": "word " * 9000}, {"prompt": "word " * 100, "max_tokens": 8192}]
)
def test_request_is_refused_when_it_exceeds_the_context(tiny_served, fields):
    response = tiny_served.http.post("/v1/completions", json=fields)
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "context_length_exceeded"


@pytest.mark.model
def test_request_is_refused_when_queue_is_full_or_engine_drains(model_path):
    """One seat, one place to wait; then drained while both are taken."""
    options = ("--max-num-seqs", "1", "--max-waiting", "1", "--num-blocks", "600")
    with serve(model_path, *options) as served:
        answers: list[httpx.Response] = []
        body = {"messages": USER, "max_tokens": 16, "ignore_eos": True}

        def ask() -> None:
            answers.append(httpx.post(f"{served.url}/v1/chat/completions", json=body, timeout=90))

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        wait_for(lambda: served.metric("vllm:num_requests_waiting") == 1)

        full = served.http.post("/v1/chat/completions", json=body)
        assert full.status_code == 503
        assert full.json()["error"]["code"] == "queue_full"
        assert int(full.headers["retry-after"]) > 0
        assert served.http.get("/ready").status_code == 200, "full is not unready"

        assert served.http.post("/drain").json() == {"draining": True, "in_flight": 2}
        assert served.http.get("/ready").status_code == 503
        assert served.http.get("/health").status_code == 200
        refused = served.http.post("/v1/chat/completions", json=body)
        assert refused.status_code == 503
        assert refused.json()["error"]["code"] == "draining"

        with pytest.raises(OSError, match="Connection refused"):
            drain("http://127.0.0.1:9", "", timeout_s=60)
        assert drain(served.url, "", timeout_s=0) in range(3), "those that still run"
        assert drain(served.url, "", timeout_s=90) == 0
        for thread in threads:
            thread.join()
        assert [a.json()["usage"]["completion_tokens"] for a in answers] == [16, 16]


@pytest.mark.parametrize(
    ("path", "fields", "param"),
    [
        ("/v1/completions", {"prompt": "a", "echo": True, "logprobs": 1}, "echo"),
        (
            "/v1/chat/completions",
            {"messages": USER, "max_tokens": 3, "max_completion_tokens": 4},
            "max_tokens",
        ),
        (
            "/v1/chat/completions",
            {"messages": [*USER, {"role": "user", "name": "Ann", "content": "hi"}]},
            "messages[1].name",
        ),
        ("/v1/chat/completions", {"messages": USER, "no_stop_trim": True}, "no_stop_trim"),
        ("/v1/completions", {"prompt": "a", "include_reasoning": False}, "include_reasoning"),
    ],
)
def test_parameter_is_refused_by_name_when_it_would_be_ignored(tiny_served, path, fields, param):
    response = tiny_served.http.post(path, json=fields)
    assert (response.status_code, response.json()["error"]["param"]) == (400, param)


def test_fields_that_routers_add_to_each_request_are_taken(tiny_served):
    """As sglang-router 0.3.2 and vllm-router 0.1.17 send it, whatever a client said."""
    added = {
        "logprobs": False,
        "no_stop_trim": False,
        "ignore_eos": False,
        "continue_final_message": False,
        "skip_special_tokens": True,
        "separate_reasoning": True,
        "stream_reasoning": True,
        "include_reasoning": True,
        "return_hidden_states": False,
    }
    body = {"messages": USER, "max_completion_tokens": 1, **added}
    response = tiny_served.http.post("/v1/chat/completions", json=body)
    assert response.status_code == 200, response.text


def test_prompt_of_more_token_ids_than_the_context_is_refused_for_its_length(tiny_served):
    """And not for the length of a list: there are contexts of 131,072 tokens and more."""
    response = tiny_served.http.post("/v1/completions", json={"prompt": [7] * 200_000})
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "context_length_exceeded"
    assert "200000" in response.json()["error"]["message"]
