"""A request that no honest client sends ends alone, with an error that names what is wrong."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncGenerator, MutableMapping
from typing import Any

import pytest

from inference.server.http import EventStream
from tests.inference.serving import Served, serve, wait_for
from tests.inference.tiny import make_tiny_model

CHAT = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 2}


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"top_k": 2**63 - 1, "n": 16, "temperature": 1}, "top_k"),
        ({"top_k": 2**70}, "top_k"),
        ({"priority": 2**64}, "priority"),
        ({"priority": -(2**70)}, "priority"),
    ],
)
def test_number_out_of_bounds_is_refused_by_name(tiny_served, fields, param):
    response = tiny_served.http.post("/v1/chat/completions", json=CHAT | fields)
    assert response.status_code == 400, response.text
    assert response.json()["error"]["param"] == param


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


def schema_of(properties: int) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {f"p{i}": {"type": "string", "pattern": "[a-z]+"} for i in range(properties)},
    }
    return {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"chat_template_kwargs": nested(700)}, "chat_template_kwargs"),
        ({"chat_template_kwargs": nested(900)}, "chat_template_kwargs"),
        (
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "x", "schema": nested(700)},
                }
            },
            "response_format.json_schema",
        ),
        ({"response_format": schema_of(10_000)}, "response_format"),
        ({"guided_choice": ["a" * 200_000]}, "guided_choice"),
    ],
)
def test_value_is_refused_by_name_when_too_deep_or_large(tiny_served, fields, param):
    response = tiny_served.http.post("/v1/chat/completions", json=CHAT | fields)
    assert response.status_code == 400, response.text
    assert response.json()["error"]["param"] == param


def test_body_is_refused_when_nested_too_deeply(tiny_served):
    deep = b"[" * 50_000 + b"]" * 50_000
    messages = json.dumps(CHAT["messages"]).encode()
    body = b'{"messages": ' + messages + b', "chat_template_kwargs": {"a": ' + deep + b"}}"
    response = tiny_served.http.post("/v1/chat/completions", content=body)
    assert response.status_code == 400
    assert "nested" in response.json()["error"]["message"]


@pytest.mark.parametrize("fields", [{"guided_regex": "("}, {"stop_token_ids": [10**9]}])
def test_more_sequences_than_ever_fit_are_refused_before_any_work(tiny_served, fields):
    """What else is wrong with the body is not looked at: that is work for each prompt."""
    body = {"prompt": ["a"] * 1_000_000, "max_tokens": 1} | fields
    response = tiny_served.http.post("/v1/completions", json=body)
    assert response.status_code == 400
    assert response.json()["error"]["param"] == "prompt"
    assert "1000000 sequences" in response.json()["error"]["message"]


def test_n_of_more_sequences_than_ever_fit_is_refused_by_name(tiny_served):
    response = tiny_served.http.post("/v1/chat/completions", json=CHAT | {"n": 16})
    assert (response.status_code, response.json()["error"]["param"]) == (400, "n")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/completions", {"prompt": "word " * 200_000}),
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": "word " * 200_000}]}),
        ("/v1/embeddings", {"input": ["word " * 200_000]}),
    ],
)
def test_text_that_cannot_fit_the_context_is_refused(tiny_served, path, body):
    response = tiny_served.http.post(path, json=body)
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "context_length_exceeded"


@pytest.mark.model
def test_health_is_answered_while_a_long_text_is_tokenized(served: Served):
    """Again and again: the server is never busy with it alone."""
    done = threading.Event()

    def tokenize() -> None:
        served.http.post("/tokenize", json={"prompt": "hello world " * 100_000})
        done.set()

    thread = threading.Thread(target=tokenize)
    thread.start()
    answers = 0
    while not done.is_set():
        assert served.http.get("/health").status_code == 200
        answers += 1
    thread.join()
    # One before it, one that waits for all of it, and one after it would be three.
    assert answers > 5


def test_structured_output_of_a_model_without_an_end_is_refused(tmp_path):
    """A grammar that is complete leaves nothing to choose but the end."""
    with serve(make_tiny_model(tmp_path, ends=False), "--num-blocks", "32") as served:
        refused = served.http.post("/v1/chat/completions", json=CHAT | {"guided_regex": "a"})
        assert (refused.status_code, refused.json()["error"]["param"]) == (400, "guided_regex")
        assert served.http.post("/v1/chat/completions", json=CHAT).status_code == 200


def test_stream_that_is_not_read_does_not_keep_others_out(tmp_path):
    """Its answer is computed: it waits for its reader alone, not for a place in the engine. It has
    5.7 MB, so that no buffer on its way takes it all."""
    model = make_tiny_model(tmp_path, context=4096)
    options = ("--num-blocks", "256", "--max-num-seqs", "1", "--max-waiting", "0")
    body = json.dumps(
        CHAT
        | {"stream": True, "ignore_eos": True, "max_tokens": 4000}
        | {"logprobs": True, "top_logprobs": 20}
    )
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    with serve(model, *options) as served, socket.socket() as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.connect((served.http.base_url.host, served.http.base_url.port))
        reader.sendall((head + body).encode())
        wait_for(lambda: served.metric("parley:tokens_computed_total") >= 4000, every_s=0.5)
        wait_for(lambda: served.metric("vllm:num_requests_running") == 0)
        response = served.http.post("/v1/completions", json={"prompt": "a", "max_tokens": 2})
        assert response.status_code == 200, response.text
        assert served.http.post("/drain").json()["in_flight"] == 1, "it was read after all"


@pytest.mark.parametrize("offer", ["h2c", "websocket"])
def test_body_is_read_beside_an_offer_to_upgrade(tiny_served, offer):
    """A program in Java offers HTTP/2 with each request; the offer is ignored (RFC 9110, 7.8)."""
    url = tiny_served.http.base_url
    body = json.dumps(CHAT)
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
        f"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: {offer}\r\n"
        "HTTP2-Settings: AAEAAEAA\r\n\r\n"
    )
    last = "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    with socket.create_connection((url.host, url.port), timeout=60) as connection:
        for part in (head, body, last):
            connection.sendall(part.encode())
        received = b""
        while chunk := connection.recv(65_536):
            received += chunk
    assert received.count(b"HTTP/1.1 200") == received.count(b"HTTP/1.1 ") == 2
    assert b"chat.completion" in received


async def test_reader_that_takes_nothing_is_disconnected():
    closed = asyncio.Event()

    async def events() -> AsyncGenerator[dict[str, int], None]:
        try:
            while True:
                yield {"n": 1}
        finally:
            closed.set()

    async def receive() -> dict[str, str]:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()

    stream = EventStream(events(), {}, send_timeout_s=0.05)
    async with asyncio.timeout(30):
        await stream({"type": "http"}, receive, send)
    assert closed.is_set()
