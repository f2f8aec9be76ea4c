"""Messages that are sent without a connection: they wait, outlive the page, and go out once."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.images import keep_image
from tests.e2e.test_accessibility import assert_accessible
from tests.e2e.users import PASSWORD, Person, SignUp, Visitor
from tests.support.scripted import ScriptedProduct

WAITING = "Waiting for the connection"

HELD = """async () => {
  const database = await new Promise((resolve) => {
    const opening = indexedDB.open("parley.outbox");
    opening.onsuccess = () => resolve(opening.result);
  });
  const all = database.transaction("messages").objectStore("messages").getAll();
  await new Promise((resolve) => { all.onsuccess = resolve; });
  return JSON.stringify(all.result);
}"""

SHARE = """(text) => {
  const form = document.createElement("form");
  form.method = "post";
  form.action = "/share-target";
  const field = document.createElement("input");
  Object.assign(field, { name: "text", value: text });
  form.append(field);
  document.body.append(form);
  form.submit();
}"""


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


@pytest.fixture
def app(sign_up: SignUp) -> Person:
    """Somebody whose page has its service worker."""
    person = sign_up(service_workers="allow")
    person.open("/")
    person.page.wait_for_function("() => navigator.serviceWorker.controller?.state === 'activated'")
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


def test_waiting_messages_are_gone_after_sign_out_and_what_is_shared_then_is_a_draft(
    app: Person,
) -> None:
    app.visitor.expect_offline()
    app.context.route("**/api/conversations", lambda route: route.abort("internetdisconnected"))
    _say(app.page, "My secret is tangerine.")
    expect(app.page.get_by_text(WAITING)).to_be_visible()
    assert "tangerine" in app.page.evaluate(HELD)
    app.page.get_by_role("button", name=f"Account of {app.name}").click()
    app.page.get_by_role("menuitem", name="Sign out").click()
    expect(app.page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    app.page.wait_for_function(f"async () => !(await ({HELD})()).includes('tangerine')")

    app.context.unroute_all()
    app.page.evaluate(SHARE, "Read this")
    app.page.wait_for_url("**/login")
    app.page.get_by_label("E-mail").fill(app.email)
    app.page.get_by_label("Password").fill(PASSWORD)
    app.page.get_by_role("button", name="Sign in", exact=True).click()
    expect(app.composer).to_have_value("Read this")
