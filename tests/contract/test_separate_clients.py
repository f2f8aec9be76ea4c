"""Clients that live in an environment of their own, `var/clients`: `make clients` builds it and
runs these; without it they are passed over, since to install them takes minutes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.product import Product

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "var" / "clients"
CITIES = ({"city": "Rome"}, {"city": "Paris"})
BOTH = ("chat", "responses")
pytestmark = [
    pytest.mark.model,
    pytest.mark.skipif(not (PACKAGES / "agents").exists(), reason="`make clients` brings them"),
]


@pytest.fixture(scope="module")
def found(product: Product, secret: str) -> dict[str, Any]:
    """What each check of separate_clients.py gave."""
    own = {
        **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
        "PYTHONPATH": str(PACKAGES),
        "PARLEY_URL": product.url,
        "PARLEY_KEY": secret,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "OPENAI_AGENTS_DISABLE_TRACING": "1",
    }
    # -S: the packages of the product's own environment are not seen.
    ran = subprocess.run(
        [sys.executable, "-S", str(Path(__file__).with_name("separate_clients.py"))],
        env=own,
        capture_output=True,
        text=True,
        check=False,
        timeout=480,
    )
    assert ran.returncode == 0, ran.stderr
    given: dict[str, Any] = json.loads(ran.stdout)
    return given


def test_litellm_chats_streams_and_counts(found: dict[str, Any]) -> None:
    chat = found["litellm_chats_and_streams"]
    assert chat.get("whole") and chat["whole"] == chat["streamed"], chat
    assert chat["tokens"][0] == chat["tokens"][1] > 0


def test_litellm_calls_tools_and_keeps_to_schemas(found: dict[str, Any]) -> None:
    called = found["litellm_calls_tools_over_turns"]
    assert called.get("arguments") in CITIES, called
    assert called["reason"] in {"stop", "length", "tool_calls"}
    assert found["litellm_keeps_to_schemas"] in CITIES, found["litellm_keeps_to_schemas"]


def test_litellm_speaks_the_other_endpoints(found: dict[str, Any]) -> None:
    asked = found["litellm_asks_for_responses_messages_and_vectors"]
    assert asked.get("status") in {"completed", "incomplete"}, asked
    assert asked["last"] in {"response.completed", "response.incomplete"}
    assert asked["message"] and asked["vectors"] == 2


def test_litellm_tells_errors_apart_and_cancels(found: dict[str, Any]) -> None:
    assert found["litellm_tells_errors_apart_and_retries"] == {
        "bad": "BadRequestError",
        "key": "AuthenticationError",
        "model": "NotFoundError",
    }
    assert found["litellm_cancels"] == {"chunks": 3}


@pytest.mark.parametrize("kind", BOTH)
def test_agents_answer_stream_and_call_over_turns(found: dict[str, Any], kind: str) -> None:
    answered, streamed = found["agents_answer"], found["agents_stream"]
    assert answered.get(kind, {}).get("text") and answered[kind]["tokens"] > 0, answered
    assert streamed.get(kind, {}).get("final") == streamed[kind]["streamed"], streamed
    called = found["agents_call_tools_over_turns"]
    assert kind in called, called
    assert called[kind]["outputs"][0] in {"Sunny in Rome.", "Sunny in Paris."}
    kinds = called[kind]["kinds"]
    assert kinds.index("tool_call_item") < kinds.index("tool_call_output_item")


@pytest.mark.parametrize("kind", BOTH)
def test_agents_give_types_tell_errors_and_cancel(found: dict[str, Any], kind: str) -> None:
    typed, ended = found["agents_give_their_own_type"], found["agents_tell_errors_and_cancel"]
    assert typed.get(kind) in CITIES, typed
    assert ended.get(kind) == {"error": "no_such", "events": 3}, ended
