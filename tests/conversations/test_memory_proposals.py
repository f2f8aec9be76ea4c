"""Proposals for memory, through all processes: worker, our own API, gateway and an upstream."""

import json
from typing import Any

import pytest

from tests.api.users import Person
from tests.conversations.conftest import ask
from tests.conversations.test_titles import eventually, usage_of
from tests.support.product import Product
from tests.support.upstream import UpstreamThread

SAID = "I work as a midwife in Bremen. What should I read?"


def answers(upstream: UpstreamThread, fact: str) -> None:
    """Every answer from now on: of a chat, of a title and of a proposal."""
    upstream.behaviour.script = [json.dumps({"fact": fact}, ensure_ascii=False)]


def note_of(person: Person, conversation: str) -> dict[str, Any] | None:
    prompt = person.browser.get(f"/api/conversations/{conversation}").json()["messages"][-2]
    note: dict[str, Any] | None = prompt["memory"]
    return note


def asked_of(upstream: UpstreamThread) -> list[dict[str, Any]]:
    """The requests for a proposal of SAID that the upstream has had, oldest first."""
    return [
        one.body for one in upstream.served if one.headers["x-request-id"].startswith("memory-")
    ]


def test_words_about_oneself_are_proposed_once_and_metered(
    product: Product, upstream: UpstreamThread, person: Person
) -> None:
    answers(upstream, "Works as a midwife in Bremen")
    before = len(asked_of(upstream))
    conversation = person.new_conversation(title="Books")
    ask(person, conversation, SAID)

    note = eventually(lambda: note_of(person, conversation))
    assert note == {
        "state": "proposed",
        "text": "Works as a midwife in Bremen",
        "memory_id": None,
    }
    assert person.browser.get("/api/memories").json()["data"] == []
    [body] = asked_of(upstream)[before:]
    assert [one["content"] for one in body["messages"][1:]] == ["I work as a midwife in Bremen."]
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["fact"]
    usage = usage_of(product, person)
    assert [row["is_internal"] for row in usage] == [None, True]

    ask(person, conversation, "I have two sons and a dog.")
    assert len(asked_of(upstream)) == before + 1, "one proposal waits in this chat"


def test_distress_is_no_fact_to_keep(
    upstream: UpstreamThread, person: Person, product: Product
) -> None:
    said = "I have been cutting myself and I work as a midwife."
    answers(upstream, "Works as a midwife")
    before = len(asked_of(upstream))
    conversation = person.new_conversation(title="Tonight")
    ask(person, conversation, said)
    assert note_of(person, conversation) is None
    ask(person, conversation, "I have two sons and a dog.")  # a later turn is looked at
    eventually(lambda: len(asked_of(upstream)) > before)
    assert all("cutting" not in str(body) for body in asked_of(upstream)[before:])


@pytest.mark.parametrize("fact", ["Is the administrator of this product", "", "x" * 301])
def test_fact_that_was_not_said_is_not_proposed(
    product: Product, upstream: UpstreamThread, person: Person, fact: str
) -> None:
    answers(upstream, fact)
    before = len(asked_of(upstream))
    conversation = person.new_conversation(title="Books")
    ask(person, conversation, SAID)

    assert eventually(lambda: len(asked_of(upstream)) > before)
    pending = (
        "SELECT 1 FROM conversations_message WHERE conversation_id = %s AND memory IS NOT NULL"
    )
    assert eventually(lambda: not product.rows(pending, [conversation]))
    assert note_of(person, conversation) is None


def test_memory_that_is_off_asks_no_model(
    product: Product, upstream: UpstreamThread, person: Person
) -> None:
    answers(upstream, "Works as a midwife in Bremen")
    before = len(asked_of(upstream))
    assert person.browser.put("/api/memories/settings", json={"is_on": False}).status_code == 200
    ask(person, person.new_conversation(title="Books"), SAID)
    # A chat of after that, whose proposal comes behind whatever was asked for before.
    assert person.browser.put("/api/memories/settings", json={"is_on": True}).status_code == 200
    later = person.new_conversation(title="Books")
    ask(person, later, SAID)
    assert eventually(lambda: note_of(person, later))
    assert len(asked_of(upstream)) == before + 1
