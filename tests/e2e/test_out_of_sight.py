"""Answers that end while nobody looks at the page: a notification and a badge."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.users import Person, SignUp, Visitor, until
from tests.support.scripted import ScriptedProduct

STORY = " ".join(f"word{number}x" for number in range(30))

NOTIFICATIONS = """async () => {
  const registration = await navigator.serviceWorker.ready;
  return (await registration.getNotifications()).map(
    ({ title, body, tag, data }) => ({ title, body, tag, path: data.path })
  );
}"""

# A headless shell refuses notifications, whatever it is granted: the page's calls are kept here.
KEEP_NOTIFICATIONS = """
  let kept = [];
  const registration = ServiceWorkerRegistration.prototype;
  Object.defineProperty(Notification, "permission", { get: () => "granted" });
  Notification.requestPermission = async () => "granted";
  registration.showNotification = async (title, options) => {
    const shown = { title, ...options, close: () => { kept = kept.filter((n) => n !== shown); } };
    kept = [...kept.filter(({ tag }) => tag !== shown.tag), shown];
  };
  registration.getNotifications = async () => kept;
"""
# A headless browser never hides a tab, and has no icon.
RECORD_BADGE = """() => {
  window.badge = [];
  navigator.setAppBadge = async (count) => { window.badge.push(count); };
  navigator.clearAppBadge = async () => { window.badge.push(0); };
}"""
SHOW = """(state) => {
  Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
A_MINUTE_PASSES = """() => {
  const now = Date.now;
  Date.now = () => now() + 60_000;
}"""
# Only a person's click lets a worker focus or open a tab: what it does then is noted.
CLICK = """async (path) => {
  const done = [];
  WindowClient.prototype.focus = async function () { done.push("focused " + this.url); };
  clients.openWindow = async (path) => { done.push("opened " + path); };
  const click = new ExtendableEvent("notificationclick");
  const notification = { data: { path }, close: () => { done.push("closed"); } };
  let work;
  const values = { notification, waitUntil: (promise) => { work = promise; } };
  for (const [name, value] of Object.entries(values)) Object.defineProperty(click, name, { value });
  self.dispatchEvent(click);
  await work;
  return done;
}"""


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


@pytest.fixture
def app(sign_up: SignUp) -> Person:
    """Somebody whose page has its service worker and may show notifications."""
    person = sign_up(service_workers="allow")
    person.context.add_init_script(KEEP_NOTIFICATIONS)
    person.open("/settings")
    until(person.page, "() => navigator.serviceWorker.controller?.state === 'activated'")
    return person


def _switch(app: Person) -> Any:
    return app.page.get_by_role("checkbox", name="Notify me when a long answer is done")


def _badge(page: Page) -> list[int]:
    counts: list[int] = page.evaluate("() => window.badge")
    return counts


def _wait_for_badge(page: Page, count: int) -> None:
    until(page, "(count) => window.badge.at(-1) === count", arg=count)


def _wait_for_events(app: Person) -> None:
    """Until the page has had all of the server's events up to now: they come in order."""
    app.new_conversation("The newest of all")
    expect(app.conversations.filter(has_text="The newest of all")).to_be_visible()


def test_only_a_long_answer_that_ends_out_of_sight_is_notified_and_led_to(
    app: Person, scripted_product: ScriptedProduct
) -> None:
    page = app.page
    expect(_switch(app)).not_to_be_checked()
    app.go("/")
    page.evaluate(RECORD_BADGE)
    scripted_product.says("Yes.")

    # Another tab is in sight.
    other = app.visitor.new_tab()
    other.goto("/")
    expect(other.get_by_role("textbox", name="Message")).to_be_visible()
    page.evaluate(SHOW, "hidden")
    app.say("Is it raining?")
    app.wait_for_the_end()
    _wait_for_events(app)
    assert 1 not in _badge(page)
    other.close()

    # Nobody has asked for notifications: there is a badge alone.
    _long_answer_ends_unseen(app, scripted_product)
    assert page.evaluate(NOTIFICATIONS) == []

    # A short answer.
    page.evaluate(SHOW, "visible")
    _wait_for_badge(page, 0)
    app.wait_for_the_end()
    app.go("/settings")
    _switch(app).check()
    expect(_switch(app)).to_be_checked()
    page.reload()
    expect(_switch(app)).to_be_checked()
    app.go("/")
    page.evaluate(RECORD_BADGE)
    page.evaluate(SHOW, "hidden")
    scripted_product.says("Yes.")
    app.say("Is it raining now?")
    _wait_for_badge(page, 1)
    assert page.evaluate(NOTIFICATIONS) == []

    # A long one.
    page.evaluate(SHOW, "visible")
    _wait_for_badge(page, 0)
    app.wait_for_the_end()
    _long_answer_ends_unseen(app, scripted_product)
    until(page, f"async () => (await ({NOTIFICATIONS})()).length === 1")
    conversation = app.conversation_id
    [shown] = page.evaluate(NOTIFICATIONS)
    title = app.call("GET", f"/api/conversations/{conversation}")["title"] or "New chat"
    assert shown == {
        "title": title,
        "body": "The answer is ready.",
        "tag": conversation,
        "path": f"/c/{conversation}",
    }

    page.evaluate(SHOW, "visible")
    _wait_for_badge(page, 0)
    until(page, f"async () => (await ({NOTIFICATIONS})()).length === 0")

    # A click on it leads there.
    here = f"/c/{conversation}"
    app.open(here)
    expect(app.composer).to_be_visible()
    worker = app.context.service_workers[0]
    assert worker.evaluate(CLICK, here) == ["closed", f"focused {app.visitor.url}{here}"]
    assert worker.evaluate(CLICK, "/c/elsewhere") == ["closed", "opened /c/elsewhere"]


def _long_answer_ends_unseen(app: Person, product: ScriptedProduct) -> None:
    product.says(STORY, rate=2.0)  # it shall not end before nobody looks
    app.say("Tell me a long story.")
    expect(app.answer).to_contain_text("word1x")
    app.page.evaluate(A_MINUTE_PASSES)
    app.page.evaluate(SHOW, "hidden")
    product.hurries()
    _wait_for_badge(app.page, 1)


def test_browser_that_refuses_notifications_is_named(sign_up: SignUp) -> None:
    person = sign_up()
    person.page.add_init_script(
        "Object.defineProperty(Notification, 'permission', { get: () => 'denied' })"
    )
    person.open("/settings")
    expect(_switch(person)).to_be_disabled()
    expect(person.page.get_by_text("This browser refuses notifications")).to_be_visible()
