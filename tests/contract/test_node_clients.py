"""Node's clients against the running product: one process asks with each (clients.mjs)."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.contract.conftest import LimitedKey
from tests.support.product import Product

ROOT = Path(__file__).parents[2]
FRONTEND = ROOT / "frontend"
CITIES = ({"city": "Rome"}, {"city": "Paris"})
pytestmark = [
    pytest.mark.model,
    pytest.mark.skipif(
        not (FRONTEND / "node_modules" / "@ai-sdk" / "openai").exists(),
        reason="npm ci in frontend/ brings Node's clients",
    ),
]


@pytest.fixture(scope="module")
def found(product: Product, secret: str, limited_key: LimitedKey) -> dict[str, Any]:
    """What each check of clients.mjs gave."""
    ran = subprocess.run(
        ["node", str(Path(__file__).with_name("clients.mjs"))],
        cwd=FRONTEND,
        env={
            **os.environ,
            "PARLEY_URL": product.url,
            "PARLEY_KEY": secret,
            "PARLEY_LIMITED_KEY": limited_key.secret,
            "PARLEY_LIMIT": str(limited_key.tokens_per_minute),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert ran.returncode == 0, ran.stderr
    given: dict[str, Any] = json.loads(ran.stdout)
    return given


def test_openai_node_chats_streams_calls_and_cancels(found: dict[str, Any]) -> None:
    chat = found["openaiChat"]
    assert chat.get("whole") and chat["whole"] == chat["streamed"], chat
    assert found["openaiTools"].get("arguments") in CITIES, found["openaiTools"]
    assert found["openaiTools"]["reason"] in {"stop", "length", "tool_calls"}
    assert found["openaiErrors"] == {
        "status": 400, "param": "messages", "name": "BadRequestError"
    }, found["openaiErrors"]  # fmt: skip
    assert 3 <= found["openaiCancels"].get("chunks", 0) < 100, found["openaiCancels"]


def test_openai_node_follows_responses(found: dict[str, Any]) -> None:
    responses = found["openaiResponses"]
    assert responses.get("text"), responses
    assert responses["last"] in {"response.completed", "response.incomplete"}


def test_openai_node_keeps_to_schemas_and_calls_by_responses(found: dict[str, Any]) -> None:
    objects = found["openaiObjects"]
    assert objects.get("chat") in CITIES and objects["responses"] in CITIES, objects
    called = found["openaiResponsesTools"]
    assert called.get("arguments") in CITIES and called["text"] is not None, called


def test_anthropics_sdk_streams_and_calls(found: dict[str, Any]) -> None:
    messages = found["anthropicMessages"]
    assert messages.get("text"), messages
    assert messages["call"] in CITIES


def test_anthropics_sdk_goes_on_after_tools_counts_and_cancels(found: dict[str, Any]) -> None:
    tools = found["anthropicTools"]
    assert tools.get("streamed") in CITIES, tools
    assert tools["stop"] in {"tool_use", "end_turn", "max_tokens"}
    assert tools["second"] in {"end_turn", "max_tokens", "tool_use"} and tools["tokens"] > 0
    assert found["anthropicErrors"] == {
        "bad": [400, "invalid_request_error"], "key": [401, "authentication_error"]
    }, found["anthropicErrors"]  # fmt: skip
    assert 1 <= found["anthropicCancels"].get("events", 0) < 100, found["anthropicCancels"]


def test_clients_wait_for_a_limit_and_ask_again(
    found: dict[str, Any], limited_key: LimitedKey
) -> None:
    assert found["retries"] == {"openai": True, "anthropic": True, "vercel": True}
    assert limited_key.refused() >= 3


def test_vercels_sdk_chats_calls_and_keeps_to_schemas(found: dict[str, Any]) -> None:
    both = found["vercelChatAndResponses"]
    assert both.get("text") and both["streamed"] and 0 < both["tokens"] <= 4, both
    objects = found["vercelObjects"]
    assert objects.get("chat") in CITIES and objects["responses"] in CITIES, objects
    several = found["vercelSteps"]
    assert several.get("steps", 0) >= 2, several
    assert several["output"] in {"Sunny in Rome.", "Sunny in Paris."}, several
    assert found["vercelErrors"] == {"status": 404, "retried": False}, found["vercelErrors"]
    assert 1 <= found["vercelCancels"].get("parts", 0) < 100, found["vercelCancels"]
