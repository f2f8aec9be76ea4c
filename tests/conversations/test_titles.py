"""Automatic titles, through all processes: worker, our own API, gateway and an upstream."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from backend.conversations.titles import TITLE_CHARACTERS, clean_title, first_words
from tests.api.users import Person
from tests.conversations.conftest import ask
from tests.support.product import Product

PROMPT = "How do I **plan** a garden on a balcony that has only two hours of sun a day?"


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
def test_model_output_becomes_a_title_or_is_refused(said, title):
    assert clean_title(said) == title


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("Hello", "Hello"),
        ("# Hello\n`world`", "Hello world"),
        ("", "New chat"),
        ("x" * 100, "x" * 59 + "…"),
    ],
)
def test_first_words_become_a_title(prompt, title):
    assert first_words(prompt) == title


def test_first_words_are_cut_between_words():
    title = first_words(PROMPT)
    assert len(title) <= TITLE_CHARACTERS
    assert PROMPT.replace("*", "").startswith(title.removesuffix("…"))
    assert title.endswith("…")


def eventually(poll: Callable[[], Any], timeout: float = 60) -> Any:
    deadline = time.monotonic() + timeout
    while not (seen := poll()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return seen


def title_of(person: Person, conversation: str) -> str:
    return str(person.browser.get(f"/api/conversations/{conversation}").json()["title"])


def usage_of(product: Product, person: Person) -> list[dict[str, Any]]:
    return product.rows(
        "SELECT key.is_internal, usage.state, usage.output_tokens, usage.project_id::text"
        " FROM billing_usagerecord usage LEFT JOIN accounts_apikey key ON key.id = usage.key_id"
        " WHERE usage.organization_id = %s ORDER BY usage.occurred_at",
        [person.organization_id],
    )


def test_title_is_generated_and_metered_after_the_first_answer(product, upstream, person):
    upstream.behaviour.script = ["Garden", " plans"]
    project = person.browser.post("/api/projects", json={"name": "Garden"}).json()["id"]
    conversation = person.new_conversation(title="", project_id=project)

    ask(person, conversation, PROMPT)

    assert eventually(lambda: title_of(person, conversation)) == "Garden plans"
    usage = eventually(lambda: len(found := usage_of(product, person)) == 2 and found)
    assert [row["is_internal"] for row in usage] == [None, True]
    assert all(row["state"] == "completed" and row["output_tokens"] for row in usage)
    assert [row["project_id"] for row in usage] == [project, project]
    named = upstream.served[-1]
    assert named.headers["x-request-id"].startswith(f"title-{conversation}")
    assert named.body["max_tokens"] == 20
    assert "balcony" in named.body["messages"][-1]["content"]
    assert person.browser.get("/api/keys").json()["data"] == []


def test_task_that_runs_twice_is_billed_once(product, upstream, person):
    """Its worker died after the call, before the title was stored."""
    upstream.behaviour.script = ["Garden", " plans"]
    conversation = person.new_conversation(title="")
    ask(person, conversation, PROMPT)
    assert eventually(lambda: title_of(person, conversation)) == "Garden plans"
    billed = eventually(lambda: len(found := usage_of(product, person)) == 2 and found)
    product.rows(
        "UPDATE conversations_conversation SET title = '' WHERE id = %s RETURNING id",
        [conversation],
    )

    product.inside(
        f"from backend.conversations.tasks import title_create\ntitle_create('{conversation}')"
    )

    assert title_of(person, conversation) == "Garden plans"
    assert usage_of(product, person) == billed


def test_title_is_the_first_words_when_model_output_is_refused(product, upstream, person):
    upstream.behaviour.script = None  # w0 w1 w2 …
    conversation = person.new_conversation(title="")

    ask(person, conversation, PROMPT)

    title = eventually(lambda: title_of(person, conversation))
    assert title == first_words(PROMPT)


def test_title_set_by_the_user_stays(product, upstream, person):
    upstream.behaviour.script = ["Garden", " plans"]
    conversation = person.new_conversation(title="My balcony")
    untitled = person.new_conversation(title="")

    ask(person, conversation, PROMPT)
    ask(person, untitled, PROMPT)

    assert eventually(lambda: title_of(person, untitled)) == "Garden plans"
    assert title_of(person, conversation) == "My balcony"


def test_second_answer_generates_no_title(product, upstream, person):
    upstream.behaviour.script = ["Garden", " plans"]
    conversation = person.new_conversation(title="")
    ask(person, conversation, PROMPT)
    eventually(lambda: title_of(person, conversation))
    person.browser.patch(f"/api/conversations/{conversation}", json={"title": "Mine"})

    ask(person, conversation, PROMPT)

    # The worker is asked for the title of another one behind whatever it was asked for before.
    another = person.new_conversation(title="")
    ask(person, another, PROMPT)
    assert eventually(lambda: title_of(person, another)) == "Garden plans"
    eventually(lambda: len(usage_of(product, person)) == 5)
    assert len(usage_of(product, person)) == 5, "of three answers and two titles"
    assert title_of(person, conversation) == "Mine"
