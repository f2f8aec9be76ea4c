"""What the guard before Django reads of a request, and that it passes all of it on."""

import hashlib
from typing import Any

import orjson
import pytest

from backend.api.application import api
from backend.api.asgi import GENERATION_PATHS, generation_key, model_in

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
def test_a_key_is_one_however_it_is_written(shown: bytes) -> None:
    assert generation_key(scope(authorization=shown)) == hashlib.sha256(KEY).digest()


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
def test_other_requests_are_let_in(other: Any) -> None:
    assert generation_key(other) is None


def test_every_path_that_generates_for_a_program_is_known() -> None:
    generating = {
        path
        for path, operations in api.get_openapi_schema()["paths"].items()
        if "text/event-stream" in str(operations.get("post", {}).get("responses", {}))
    }
    assert {path for path in generating if "{" not in path} == GENERATION_PATHS


def test_the_model_is_read_from_a_body_in_any_number_of_parts() -> None:
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
def test_what_cannot_be_read_names_no_model(read: list[Any]) -> None:
    assert model_in(read) is None


def test_a_body_in_parts_arrives_whole(api_client: Any) -> None:
    def body() -> Any:
        asked = orjson.dumps(
            {
                "model": "smollm2-135m",
                "max_tokens": 4,
                "messages": [{"role": "user", "content": "Say hello." + " " * 200_000}],
            }
        )
        for start in range(0, len(asked), 30_000):
            yield asked[start : start + 30_000]

    answer = api_client.post(
        "/v1/chat/completions", content=body(), headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 200, answer.text
    assert answer.json()["usage"]["completion_tokens"] <= 4
