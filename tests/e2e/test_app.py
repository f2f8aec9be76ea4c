"""The page as an app: installed, opened without a connection, shared with, frozen in mid-stream,
sending over a line that breaks."""

import io
import json
import time
from collections.abc import Callable

import httpx
import pytest
from PIL import Image
from playwright.sync_api import Page, Route, expect

from tests.e2e.images import keep_image
from tests.e2e.test_accessibility import assert_accessible
from tests.e2e.test_instructions import PHONE
from tests.e2e.users import (
    PASSWORD,
    Person,
    SignUp,
    Visitor,
    expect_letters,
    letters,
    shown_letters,
    until,
)
from tests.support.scripted import ScriptedProduct

MANIFEST = "/manifest.webmanifest"
STORED = """async () => JSON.stringify([
  {...localStorage},
  {...sessionStorage},
  await Promise.all((await caches.keys()).map(async (name) => {
    const cache = await caches.open(name);
    const kept = await cache.keys();
    const text = async (key) => (await cache.match(key, { ignoreVary: true })).text();
    return Promise.all(kept.map(text));
  })),
  await Promise.all((await indexedDB.databases()).map(({ name }) => name)),
])"""

# Messages that wait for the line.
HELD = """async () => {
  const database = await new Promise((resolve) => {
    const opening = indexedDB.open("parley.outbox");
    opening.onsuccess = () => resolve(opening.result);
  });
  const all = database.transaction("messages").objectStore("messages").getAll();
  await new Promise((resolve) => { all.onsuccess = resolve; });
  return JSON.stringify(all.result);
}"""

SHARE = """(shared) => {
  const form = document.createElement("form");
  form.method = "post";
  form.action = "/share-target";
  for (const [name, value] of Object.entries(shared)) {
    const field = document.createElement("input");
    Object.assign(field, { name, value });
    form.append(field);
  }
  document.body.append(form);
  form.submit();
}"""

KEPT_PATHS = """async () => {
  const caches_ = await Promise.all((await caches.keys()).map((name) => caches.open(name)));
  const kept = await Promise.all(caches_.map((cache) => cache.keys()));
  return kept.flat().map(({ url }) => new URL(url).pathname);
}"""


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


@pytest.fixture
def app(sign_up: SignUp) -> Person:
    """Somebody whose page has its service worker."""
    person = sign_up(service_workers="allow", **PHONE)
    person.open("/")
    until(person.page, "() => navigator.serviceWorker.controller?.state === 'activated'")
    return person


def _has_ended(person: Person, conversation: str) -> bool:
    stored = person.call("GET", f"/api/conversations/{conversation}")["messages"]
    return bool(stored[-1]["status"] == "completed")


def _stored(page: Page) -> str:
    text: str = page.evaluate(STORED)
    return text


def test_manifest_and_worker_are_served_as_what_they_are(
    scripted_product: ScriptedProduct,
) -> None:
    url = scripted_product.url
    served = httpx.get(url + MANIFEST)
    assert served.headers["Content-Type"].startswith("application/manifest+json")
    manifest = json.loads(served.text)
    assert manifest["start_url"] == manifest["id"] == "/"
    for icon in manifest["icons"]:
        answer = httpx.get(url + icon["src"])
        assert answer.headers["Content-Type"] == icon["type"]
        if icon["type"] == "image/png":
            width, height = Image.open(io.BytesIO(answer.content)).size
            assert f"{width}x{height}" == icon["sizes"]

    worker = httpx.get(url + "/service-worker.js")
    assert worker.headers["Content-Type"].startswith("text/javascript")
    assert worker.headers["Cache-Control"] == "no-cache"
    assert "script-src 'self'" in worker.headers["Content-Security-Policy"]
    assert httpx.post(url + "/service-worker.js").status_code == 405


def test_app_takes_what_is_shared_opens_without_a_connection_and_keeps_nothing_after_sign_out(
    app: Person, scripted_product: ScriptedProduct
) -> None:
    can_be_installed(app.page)
    is_given_a_text(app, scripted_product)
    app.page = opens_without_a_connection(app.visitor, app.composer.input_value())
    scripted_product.says("I keep it.")
    send(app, "My secret is tangerine.")
    app.wait_for_the_end()
    app.context.route("**/messages", lambda route: route.abort("internetdisconnected"))
    send(app, "Another is apricot.")
    expect(app.page.get_by_text("Waiting for the connection")).to_be_visible()
    app.composer.fill("A draft about marmalade")
    keeps_nothing_after_sign_out(app)

    page = app.page
    app.context.unroute_all()
    app.context.set_offline(True)
    page.goto("/")
    expect(page.get_by_text("Parley can't be reached", exact=True)).to_be_visible()
    assert app.name not in page.content()
    app.context.set_offline(False)
    page.goto("/")
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    with page.expect_navigation():
        page.evaluate(SHARE, {"text": "Read this"})
    page.wait_for_url("**/login")
    page.get_by_label("E-mail").fill(app.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(app.composer).to_have_value("Read this")


def send(app: Person, text: str) -> None:
    """By the button: on a phone Enter breaks the line."""
    app.composer.fill(text)
    app.page.get_by_role("button", name="Send", exact=True).click()


def is_given_a_text(app: Person, scripted_product: ScriptedProduct) -> None:
    page = app.page
    asked = len(scripted_product.prompts)
    text = "<img src=x onerror=alert(1)> & more"
    page.evaluate(SHARE, {"title": "A page", "text": text, "url": "https://a.b/"})
    expect(app.composer).to_have_value(f"A page\n{text}\nhttps://a.b/")
    assert page.url == f"{app.visitor.url}/"
    expect(page.get_by_role("article")).to_have_count(0)
    assert len(scripted_product.prompts) == asked
    assert app.call("GET", "/api/conversations")["data"] == []


def opens_without_a_connection(visitor: Visitor, draft: str) -> Page:
    visitor.expect_offline()
    visitor.context.set_offline(True)
    visitor.page.close()
    page = visitor.new_tab()
    page.goto("/")
    expect(page.get_by_text("You are offline")).to_be_visible()
    expect(page.get_by_role("textbox", name="Message")).to_have_value(draft)
    assert_accessible(page, "the app without a connection")
    keep_image(page, "offline")

    visitor.context.set_offline(False)
    expect(page.get_by_text("You are offline")).to_be_hidden()
    expect(page.get_by_role("textbox", name="Message")).to_have_value(draft)
    return page


def keeps_nothing_after_sign_out(app: Person) -> None:
    page = app.page
    assert "apricot" in page.evaluate(HELD)
    before = _stored(page)
    assert app.email in before and "marmalade" in before
    kept = page.evaluate(KEPT_PATHS)
    assert "/" in kept
    assert [path for path in kept if path != "/" and not path.startswith("/static/app/")] == []

    page.get_by_role("button", name="Open menu").click()
    page.get_by_role("button", name=f"Account of {app.name}").click()
    page.get_by_role("menuitem", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    until(page, f"async () => !(await ({HELD})()).includes('apricot')")
    after = _stored(page)
    for personal in (app.email, app.name, "tangerine", "marmalade"):
        assert personal not in after, personal


def can_be_installed(page: Page) -> None:
    chromium = page.context.new_cdp_session(page)
    read = chromium.send("Page.getAppManifest")
    assert read["url"].endswith(f"{MANIFEST}?language=en")
    assert read["errors"] == []
    found = chromium.send("Page.getInstallabilityErrors")["installabilityErrors"]
    # Playwright's contexts are private windows, in which newer browsers install nothing.
    assert {error["errorId"] for error in found} <= {"in-incognito"}


@pytest.mark.nightly(
    beside="tests/e2e/test_chat.py"
    "::test_prompt_is_edited_and_an_answer_has_versions_and_is_complete_after_a_broken_connection"
)
def test_answer_goes_on_when_a_frozen_page_wakes(
    app: Person, scripted_product: ScriptedProduct
) -> None:
    scripted_product.says(" ".join(f"word{number}x" for number in range(50)), rate=8.0)
    send(app, "Tell me a long story.")
    app.wait_for_words(3)
    before = shown_letters(app.answer)
    chromium = app.context.new_cdp_session(app.page)
    chromium.send("Page.setWebLifecycleState", {"state": "frozen"})
    conversation = app.conversation_id

    scripted_product.hurries()
    while not _has_ended(app, conversation):
        time.sleep(0.5)
    chromium.send("Page.setWebLifecycleState", {"state": "active"})
    app.wait_for_the_end()
    final = letters(app.stored()[-1]["content"])
    assert final.startswith(before)
    expect_letters(app.answer, final)
    assert app.answer.inner_text().count("word49x") == 1


# That the page asks again with the same key: frontend/src/chat/outbox.test.ts.
@pytest.mark.nightly(
    beside="tests/e2e/test_outbox.py"
    "::test_messages_that_were_sent_offline_are_stored_as_they_were_left_once_and_in_order"
)
def test_message_is_stored_once_when_the_connection_breaks_after_its_receipt(
    sign_up: SignUp, scripted_product: ScriptedProduct
) -> None:
    person = sign_up()
    person.open("/")
    scripted_product.says("Hello.")
    person.say("Good morning.")
    person.wait_for_the_end()

    def lose(route: Route) -> None:
        route.fetch()
        route.abort("internetdisconnected")

    person.visitor.expect_offline()
    person.context.route("**/messages", lose, times=1)
    scripted_product.says("At noon.")
    person.say("When is low tide?")
    expect(person.answer).to_contain_text("At noon.")
    person.wait_for_the_end()

    asked = [prompt[-1]["content"] for prompt in scripted_product.prompts]
    assert asked.count("When is low tide?") == 1
    assert [message["content"].strip() for message in person.stored()] == [
        "Good morning.",
        "Hello.",
        "When is low tide?",
        "At noon.",
    ]
    expect(person.page.get_by_text("2/2")).to_have_count(0)
