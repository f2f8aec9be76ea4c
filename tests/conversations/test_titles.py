"""Automatic titles, through all processes: worker, our own API, gateway and an upstream."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from backend.conversations.titles import TITLE_CHARACTERS, clean_title, first_words
from tests.api.people import Person
from tests.conversations.conftest import ask
from tests.support.product import Product

QUESTION = "How do I **plan** a garden on a balcony that has only two hours of sun a day?"


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Garden plans", "Garden plans"),
        ('"Garden plans."', "Garden plans"),
        ("Title: **Garden plans**\nIt is about", "Garden plans"),
        ("\n\n  garden   plans \n", "Garden plans"),
        ("\u201cJardins d'été\u201d", "Jardins d'été"),
        ("庭の計画", "庭の計画"),
        ("", None),
        ("...", None),
        ("a very long sentence that goes on and on without end", None),
        ("x" * 61, None),
    ],
)
def test_what_a_model_says_becomes_a_title_or_is_refused(said, title):
    assert clean_title(said) == title


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("Hello", "Hello"),
        ("# Hello\n`world`", "Hello world"),
        ("", "New chat"),
        ("x" * 100, "x" * 59 + "…"),
    ],
)
def test_the_first_words_stand_in(question, title):
    assert first_words(question) == title


def test_the_first_words_are_cut_between_words():
    title = first_words(QUESTION)
    assert len(title) <= TITLE_CHARACTERS
    assert QUESTION.replace("*", "").startswith(title.removesuffix("…"))
    assert title.endswith("…")


def eventually(look: Callable[[], Any], timeout: float = 60) -> Any:
    deadline = time.monotonic() + timeout
    while not (seen := look()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return seen


def title_of(person: Person, conversation: str) -> str:
    return str(person.browser.get(f"/api/conversations/{conversation}").json()["title"])


def usage_of(product: Product, person: Person) -> list[dict[str, Any]]:
    return product.rows(
        "SELECT key.is_internal, usage.state, usage.output_tokens"
        " FROM billing_usagerecord usage LEFT JOIN accounts_apikey key ON key.id = usage.key_id"
        " WHERE usage.organization_id = %s ORDER BY usage.occurred_at",
        [person.organization_id],
    )


def test_the_model_names_a_conversation_after_its_first_answer_and_that_is_metered(
    product, upstream, person
):
    upstream.behaviour.script = ["Garden", " plans"]
    conversation = person.new_conversation()

    ask(person, conversation, QUESTION)

    assert eventually(lambda: title_of(person, conversation)) == "Garden plans"
    usage = eventually(lambda: len(found := usage_of(product, person)) == 2 and found)
    assert [row["is_internal"] for row in usage] == [None, True]
    assert all(row["state"] == "completed" and row["output_tokens"] for row in usage)
    named = upstream.served[-1]
    assert named.headers["x-request-id"].startswith(f"title-{conversation}")
    assert named.body["max_tokens"] == 20
    assert "balcony" in named.body["messages"][-1]["content"]
    assert person.browser.get("/api/keys").json() in ([], {"data": []})


def test_where_the_model_rambles_the_first_words_are_the_title(product, upstream, person):
    upstream.behaviour.script = None  # w0 w1 w2 …
    conversation = person.new_conversation()

    ask(person, conversation, QUESTION)

    title = eventually(lambda: title_of(person, conversation))
    assert title == first_words(QUESTION)


def test_the_users_own_title_stays(product, upstream, person):
    upstream.behaviour.script = ["Garden", " plans"]
    conversation = person.new_conversation(title="My balcony")
    untitled = person.new_conversation()

    ask(person, conversation, QUESTION)
    ask(person, untitled, QUESTION)

    assert eventually(lambda: title_of(person, untitled)) == "Garden plans"
    assert title_of(person, conversation) == "My balcony"


def test_a_second_answer_asks_for_no_second_title(product, upstream, person):
    upstream.behaviour.script = ["Garden", " plans"]
    conversation = person.new_conversation()
    ask(person, conversation, QUESTION)
    eventually(lambda: title_of(person, conversation))
    person.browser.patch(f"/api/conversations/{conversation}", json={"title": "Mine"})

    ask(person, conversation, QUESTION)

    eventually(lambda: len(usage_of(product, person)) == 4, timeout=2)
    assert len(usage_of(product, person)) == 3
    assert title_of(person, conversation) == "Mine"
