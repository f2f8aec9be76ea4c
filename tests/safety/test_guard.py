"""The guard model: its answers, when it is asked, and what follows when it cannot be."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from inference.server.http import decode_body
from inference.server.schemas import ChatRequest
from safety.health import failures_clear
from safety.judge.guard import GuardFailed, LlamaGuard, parse_guard_answer
from safety.judge.policy import DEFAULT_POLICY, Policy
from safety.judge.pre import PreClassifier
from safety.taxonomy import Category
from safety.types import Action, SafetyMessage


def check(text: str, policy: Policy = DEFAULT_POLICY, **options: Any):
    return PreClassifier(**options).check([SafetyMessage("user", text)], policy)


def test_guard_answer_is_parsed() -> None:
    assert parse_guard_answer("\n\nsafe") == frozenset()
    assert parse_guard_answer("unsafe\nS9,S1") == {
        Category.INDISCRIMINATE_WEAPONS,
        Category.VIOLENT_CRIMES,
    }
    with pytest.raises(ValueError, match="not an answer of a guard"):
        parse_guard_answer("I think so")


@pytest.fixture
def guard_server():
    """A server that speaks Llama Guard's part of the chat API: unsafe for any mention of lock."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            decode_body(body, ChatRequest)
            found = b"unsafe\\nS2" if b"lock" in body else b"safe"
            answer = b'{"choices": [{"message": {"content": "' + found + b'"}}]}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_guard_decides_the_uncertain_band_only(guard_server: str) -> None:
    guard = LlamaGuard(guard_server, "guard")
    wide = Policy.from_dict({"version": "g", "guard": True, "guard_band": 0.8})
    assert check("open a lock", wide, guard=guard).layer == "guard"
    off = Policy.from_dict({"version": "g", "guard": False})
    assert check("open a lock", off, guard=guard).layer != "guard"


def test_unreachable_guard_is_a_failed_layer() -> None:
    guard = LlamaGuard("http://127.0.0.1:9", "guard", timeout_s=0.5)
    with pytest.raises(GuardFailed):
        guard.judge([SafetyMessage("user", "hello")])
    policy = Policy.from_dict({"version": "g", "guard": True, "guard_band": 0.8})
    decision = check("hello there, how are you", policy, guard=guard)
    assert (decision.action, decision.failed) == (Action.FLAG, ("guard",))
    failures_clear()
