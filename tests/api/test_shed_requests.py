"""What the guard before Django reads of a request, and that it passes all of it on."""

import hashlib
from typing import Any

import orjson
import pytest

from backend.api.application import generation_paths
from backend.api.asgi import generation_key, model_in

KEY = b"sk-parley-something"
ASKED = orjson.dumps({"model": "smollm2-135m", "messages": []})


def scope(path: str = "/v1/chat/completions", method: str = "POST", **headers: bytes) -> Any:
    named = {name.replace("_", "-").encode(): value for name, value in headers.items()}
    return {"method": method, "path": path, "headers": list(named.items())}


def parts(*bodies: bytes) -> list[Any]:
    last = len(bodies) - 1
    return [
        {"type": "http.request", "body": body, "more_body": number < last}
        for number, body in enumerate(bodies)
    ]


@pytest.mark.parametrize("shown", [b"Bearer " + KEY, b"bearer  " + KEY + b" ", b"BEARER " + KEY])
def test_key_is_read_from_any_spelling_of_bearer(shown: bytes) -> None:
    assert (
        generation_key(scope(authorization=shown), generation_paths())
        == hashlib.sha256(KEY).digest()
    )


@pytest.mark.parametrize(
    "other",
    [
        scope(),
        scope(authorization=b"Bearer x", idempotency_key=b"once"),
        scope(authorization=b"Bearer x", method="GET"),
        scope("/v1/models", authorization=b"Bearer x"),
        scope("/api/conversations/1/messages", authorization=b"Bearer x"),
    ],
)
def test_request_without_a_sheddable_key_is_admitted(other: Any) -> None:
    assert generation_key(other, generation_paths()) is None


def test_model_is_read_from_a_body_in_any_number_of_parts() -> None:
    assert model_in(parts(ASKED)) == "smollm2-135m"
    assert model_in(parts(ASKED[:5], b"", ASKED[5:])) == "smollm2-135m"


@pytest.mark.parametrize(
    "read",
    [
        parts(b"{"),
        parts(b"[]"),
        parts(b'{"model": 3}'),
        parts(b'{"messages": []}'),
        parts(b"\xff"),
        parts(ASKED, b"more")[:1],
        parts(ASKED[:-1] + b" " * 70_000 + b"}"),
        [{"type": "http.disconnect"}],
    ],
)
def test_model_is_none_when_body_cannot_be_parsed(read: list[Any]) -> None:
    assert model_in(read) is None


def test_body_in_parts_is_passed_on_whole(api_client: Any) -> None:
    def body() -> Any:
        asked = orjson.dumps(
            {
                "model": "smollm2-135m",
                "max_tokens": 4,
                "messages": [{"role": "user", "content": "Say hello."}],
            }
        )
        asked = asked[:-1] + b" " * 200_000 + asked[-1:]
        for start in range(0, len(asked), 30_000):
            yield asked[start : start + 30_000]

    answer = api_client.post(
        "/v1/chat/completions", content=body(), headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 200, answer.text
    assert answer.json()["usage"]["completion_tokens"] <= 4
