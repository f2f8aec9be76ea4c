"""The synthetic upstream refuses what the engine refuses, in the same words."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.engine import ENGINE_HEADERS, Engine
from tests.support.upstream import UpstreamThread

SAID = [{"role": "user", "content": "Hi"}]
TOOL = {"type": "function", "function": {"name": "f", "parameters": {}}}

pytestmark = pytest.mark.model


@pytest.fixture
def upstream() -> Iterator[UpstreamThread]:
    thread = UpstreamThread(rate=0.0)
    thread.start()
    yield thread
    thread.stop()
    thread.close()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", {"messages": SAID, "tools": [TOOL], "is_reviewed": True}),
        ("/v1/chat/completions", {"messages": [{**SAID[0], "marked": "x"}]}),
        ("/v1/chat/completions", {"messages": SAID, "tools": [{**TOOL, "of_page": True}]}),
        ("/v1/chat/completions", {"messages": SAID, "temperature": 3}),
        ("/v1/chat/completions", {}),
        ("/v1/completions", {"prompt": "Hi", "suffix_of": ""}),
        ("/tokenize", {"prompt": "Hi", "text": "Hi"}),
        ("/detokenize", {"tokens": ["a"]}),
    ],
)
def test_refuses_as_engine_does(
    model_engine: Engine, upstream: UpstreamThread, path: str, body: dict[str, Any]
) -> None:
    refused = httpx.post(f"{model_engine.url}{path}", json=body, headers=ENGINE_HEADERS)
    assert refused.status_code == 400, refused.text
    stood_in = httpx.post(f"{upstream.url}{path}", json=body)
    assert (stood_in.status_code, stood_in.json()) == (400, refused.json())
