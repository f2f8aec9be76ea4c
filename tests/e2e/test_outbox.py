"""Messages that are sent without a connection: they wait, outlive the page, and go out once."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.images import keep_image
from tests.e2e.test_accessibility import assert_accessible
from tests.e2e.users import Person, SignUp, Visitor, until
from tests.support.scripted import ScriptedProduct

WAITING = "Waiting for the connection"


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


@pytest.fixture
def app(sign_up: SignUp) -> Person:
    """Somebody whose page has its service worker."""
    person = sign_up(service_workers="allow")
    person.open("/")
    until(person.page, "() => navigator.serviceWorker.controller?.state === 'activated'")
    return person


def _say(page: Page, text: str) -> None:
    composer = page.get_by_role("textbox", name="Message")
    composer.fill(text)
    composer.press("Enter")
    expect(page.get_by_role("article", name="You").last).to_contain_text(text)


def _conversations(person: Person) -> list[list[str]]:
    """The texts of each, as they are stored, newest conversation first."""
    rows = person.call("GET", "/api/conversations")["data"]
    read = [person.call("GET", f"/api/conversations/{row['id']}") for row in rows]
    return [[message["content"].strip() for message in chat["messages"]] for chat in read]


def _eventually(read: Callable[[], Any], wanted: Any) -> None:
    until = time.monotonic() + 45
    while (found := read()) != wanted and time.monotonic() < until:
        time.sleep(0.5)
    assert found == wanted


def test_messages_that_were_sent_offline_are_stored_as_they_were_left_once_and_in_order(
    app: Person, scripted_product: ScriptedProduct
) -> None:
    scripted_product.says("Well.")
    app.say("Good morning.")
    app.wait_for_the_end()
    chat = app.page.url
    app.visitor.expect_offline()
    app.context.set_offline(True)
    _say(app.page, "When does the ferry leave?")
    _say(app.page, "And the bus?")
    expect(app.page.get_by_text(WAITING)).to_have_count(2)

    # The first tab is closed and opened again; a second one has a new chat.
    app.page.close()
    page, other = app.visitor.new_tab(), app.visitor.new_tab()
    page.goto(chat)
    expect(page.get_by_text(WAITING)).to_have_count(2)
    other.goto("/")
    _say(other, "A slip of the pen")
    other.get_by_role("button", name="Cancel").click()
    expect(other.get_by_text(WAITING)).to_have_count(0)
    _say(other, "What is a tarm?")
    other.get_by_role("button", name="Edit").click()
    expect(other.get_by_role("textbox", name="Message")).to_have_value("What is a tarm?")
    _say(other, "What is a tram?")
    assert_accessible(page, "messages that wait for the connection")
    keep_image(page, "waiting")
    keep_image(other, "waiting-new")

    app.context.set_offline(False)
    for tab in (page, other):
        expect(tab.get_by_role("article", name="Parley").last).to_contain_text("Well.")
        expect(tab.get_by_text(WAITING)).to_have_count(0)
    _eventually(
        lambda: sorted(_conversations(app)),
        [
            [
                "Good morning.",
                "Well.",
                "When does the ferry leave?",
                "Well.",
                "And the bus?",
                "Well.",
            ],
            ["What is a tram?", "Well."],
        ],
    )
    asked = [prompt[-1]["content"] for prompt in scripted_product.prompts]
    for text in ("When does the ferry leave?", "And the bus?", "What is a tram?"):
        assert asked.count(text) == 1, text
