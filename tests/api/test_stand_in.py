"""A chat whose model has ended goes on with a smaller one, which reads what it can hold of it; a
program's, where it has allowed that."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from tests.api.users import Person, program, sign_up
from tests.support.compared_models import end, says
from tests.support.pools import pools_beside
from tests.support.scripted import ScriptedProduct
from tests.support.upstream import UpstreamThread

WINDOWS = {"wide": 8_192, "narrow": 2_048}
LONG = "word " * 600


@pytest.fixture
def models(scripted_product: ScriptedProduct) -> Iterator[dict[str, UpstreamThread]]:
    """The upstreams of a model and of the smaller one that stands in for it."""
    with ExitStack() as stack:
        upstreams = {name: UpstreamThread(rate=0.0) for name in WINDOWS}
        for upstream in upstreams.values():
            says(upstream, "I see.")
            upstream.start()
            stack.callback(upstream.close)
            stack.callback(upstream.stop)
        definitions: list[dict[str, Any]] = [
            {
                "id": name,
                "name": name.title(),
                "context_window": window,
                "max_output_tokens": 256,
                "capabilities": ["chat", "streaming"],
                "price_per_1k": dict.fromkeys(("input", "cached_input", "output"), "0.01"),
                "replica": [{"name": name, "url": upstreams[name].url}],
                "fallback": ["narrow"] if name == "wide" else [],
            }
            for name, window in WINDOWS.items()
        ]
        stack.enter_context(pools_beside(scripted_product, definitions))
        yield upstreams


def said_to(upstream: UpstreamThread) -> list[str]:
    """What its model was given last, a text for each message."""
    return [str(message["content"]) for message in upstream.served[-1].body["messages"]]


def ask(person: Person, conversation_id: str, text: str) -> str | None:
    """The model that stood in for, from the headers."""
    answer = person.browser.post(
        f"/api/conversations/{conversation_id}/messages", json={"content": text, "model": "wide"}
    )
    assert answer.status_code == 200, answer.text
    assert "see." in answer.text
    stood_in: str | None = answer.headers.get("x-parley-fallback-from")
    return stood_in


def messages_of(person: Person, conversation_id: str) -> list[dict[str, Any]]:
    answer = person.browser.get(f"/api/conversations/{conversation_id}")
    messages: list[dict[str, Any]] = answer.json()["messages"]
    return messages


def test_smaller_model_reads_the_newest_part_of_a_long_chat_and_the_answer_says_so(
    scripted_product: ScriptedProduct, models: dict[str, UpstreamThread]
) -> None:
    person = sign_up(scripted_product.url)
    long, short = person.new_conversation(), person.new_conversation()
    for number in ("first", "second"):
        assert ask(person, long, f"This is the {number}. {LONG}") is None
    assert ask(person, short, "This is all.") is None
    end(scripted_product, "wide", models["wide"])

    assert ask(person, long, "And now?") == "wide"
    texts = said_to(models["narrow"])
    assert not any("This is the first." in text for text in texts)
    assert any("This is the second." in text for text in texts) and "And now?" in texts[-1]
    last = messages_of(person, long)[-1]
    assert (last["model"], last["read_in_part"]) == ("narrow", True)
    sent = person.browser.get(f"/api/messages/{last['id']}/sent").json()
    assert [one["text"] for one in sent["messages"]] == texts

    assert ask(person, short, "And now?") == "wide"
    assert any("This is all." in text for text in said_to(models["narrow"]))
    last = messages_of(person, short)[-1]
    assert (last["model"], last["read_in_part"]) == ("narrow", False)
    person.browser.close()


def respond(client: httpx.Client, text: str, **fields: Any) -> httpx.Response:
    return client.post("/v1/responses", json={"model": "wide", "input": text, **fields})


def test_programs_chat_is_cut_for_a_smaller_model_where_it_allows_truncation(
    scripted_product: ScriptedProduct, models: dict[str, UpstreamThread]
) -> None:
    person = sign_up(scripted_product.url)
    client = program(scripted_product.url, str(person.new_key()["secret"]))
    first = respond(client, f"This is the first. {LONG}", truncation="auto")
    assert first.status_code == 200, first.text
    earlier = {"previous_response_id": first.json()["id"]}
    second = respond(client, f"This is the second. {LONG}", truncation="auto", **earlier)
    assert "x-parley-history-left-out" not in second.headers
    earlier = {"previous_response_id": second.json()["id"]}
    end(scripted_product, "wide", models["wide"])

    for stream in (False, True):
        cut = respond(client, "And now?", truncation="auto", stream=stream, **earlier)
        assert cut.status_code == 200, cut.text
        assert "see." in cut.text
        assert cut.headers["x-parley-fallback-from"] == "wide"
        ended = cut.text.rpartition("data: ")[2] if stream else cut.text
        response = json.loads(ended)
        assert response.get("response", response)["model"] == "narrow"
        # The first question and its answer.
        assert cut.headers["x-parley-history-left-out"] == "2"
        texts = said_to(models["narrow"])
        assert not any("This is the first." in text for text in texts)
        assert any("This is the second." in text for text in texts) and "And now?" in texts[-1]

    whole = respond(client, "And now?", **earlier)
    assert whole.status_code == 503, whole.text
    # What it says itself is never cut.
    alone = respond(client, f"{LONG} {LONG}", truncation="auto", **earlier)
    assert alone.status_code == 503, alone.text
    client.close()
    person.browser.close()
