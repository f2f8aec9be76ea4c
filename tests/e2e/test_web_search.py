"""The web on the page: an admin names a provider, a person lets a chat search, an answer names its
pages, whatever their titles and addresses try."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from infra.services.ports import free_port
from tests.e2e.images import keep_image
from tests.e2e.test_accessibility import PHONE, assert_accessible
from tests.e2e.users import Person, SignUp, Visitor
from tests.support.scripted import ScriptedProduct
from tests.support.web_pages import WebPages

ATTACK = '<img src=x onerror="alert(1)"><b>Ferries</b> today'
FERRIES = {
    "title": ATTACK,
    "url": "https://ferries.example/today",
    "content": "All ferries sail at noon.",
}
PIERS = {"title": "Piers", "url": "https://piers.example/four", "content": "It is pier four."}
SCRIPT = {"title": "Click me", "url": "javascript:alert(1)", "content": "A page."}
SEARCHED = "Searched the web for “ferry times”"


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


@pytest.fixture(scope="module")
def web() -> Iterator[WebPages]:
    pages = WebPages()
    pages.start()
    yield pages
    pages.stop()


@pytest.fixture
def person(sign_up: SignUp, scripted_product: ScriptedProduct, web: WebPages) -> Iterator[Person]:
    web.results = [SCRIPT, FERRIES, PIERS, FERRIES]
    scripted_product.says("It sails at noon.")
    scripted_product.calls(("search", '{"query": "ferry times"}'))
    yield sign_up(**PHONE)
    scripted_product.calls()


def switch(page: Page) -> Locator:
    return page.get_by_role("button", name="Search the web", exact=True)


def send(person: Person, text: str) -> None:
    """By the button: on a phone Enter breaks the line."""
    person.composer.fill(text)
    person.page.get_by_role("button", name="Send", exact=True).click()


def sources(person: Person) -> Locator:
    return person.answer.get_by_role("region", name="Pages of the web").get_by_role("link")


def test_admin_lets_chats_search_and_an_answer_names_the_pages(
    person: Person, scripted_product: ScriptedProduct, web: WebPages
) -> None:
    page = person.page
    person.open("/")
    expect(person.composer).to_be_visible()
    expect(switch(page)).to_be_hidden()
    person.go("/organization/tools")
    page.get_by_role("textbox", name="Address of SearXNG").fill(f"http://127.0.0.1:{free_port()}")
    page.get_by_role("button", name="Let chats search the web").click()
    allowed = page.get_by_role("checkbox", name="Chats may search the web")
    expect(page.get_by_text("Search service error")).to_be_visible()
    expect(allowed).not_to_be_checked()
    page.get_by_role("button", name="Change URL").click()
    form = page.get_by_role("form", name="URL of Web")
    form.get_by_role("textbox", name="URL").fill(web.url)
    assert_accessible(page, "the URL of web search")
    keep_image(page, "unreachable")
    form.get_by_role("button", name="Save").click()
    expect(allowed).to_be_checked()
    expect(page.get_by_text("Search service error")).to_be_hidden()
    page.get_by_role("button", name="Try a search").click()
    expect(page.get_by_text("The provider answered.")).to_be_visible()
    assert web.queries[-1] == "weather"
    assert_accessible(page, "web search of the organization")
    keep_image(page, "organization")

    person.go("/")
    expect(switch(page)).to_have_attribute("aria-pressed", "false")
    switch(page).focus()
    page.keyboard.press("Space")
    expect(switch(page)).to_have_attribute("aria-pressed", "true")
    keep_image(page, "switched-on")

    send(person, "When does the ferry sail?")
    expect(page.get_by_text("It sails at noon.")).to_be_visible()
    expect(page.get_by_text(SEARCHED)).to_be_visible()
    expect(page.get_by_text("All ferries sail at noon.")).to_be_hidden()
    expect(sources(person)).to_have_count(2)
    expect(sources(person).first).to_contain_text(ATTACK)
    expect(sources(person).first).to_contain_text("ferries.example")
    assert_accessible(page, "an answer with its pages")
    keep_image(page, "sources")
    page.get_by_text(SEARCHED).click()
    expect(page.get_by_text("All ferries sail at noon.")).to_be_visible()

    opens_a_tab_that_knows_nothing_of_the_chat(person)
    # It is the chat's: there after a reload, not in another chat.
    page.reload()
    expect(sources(person)).to_have_count(2)
    expect(switch(page)).to_have_attribute("aria-pressed", "true")
    chat = person.conversation_id
    person.go("/")
    expect(switch(page)).to_have_attribute("aria-pressed", "false")

    person.go(f"/c/{chat}")
    switch(page).click()
    expect(switch(page)).to_have_attribute("aria-pressed", "false")
    send(person, "And on Monday?")
    expect(page.get_by_text("It sails at noon.")).to_have_count(2)
    person.wait_for_the_end()
    assert "tools" not in scripted_product.bodies[-1]
    expect(sources(person)).to_have_count(0)

    switches_and_sends_in_one_breath(person)

    # What has been read is named, though nothing more is.
    person.go("/organization/tools")
    allowed.click()
    expect(allowed).not_to_be_checked()
    person.go(f"/c/{chat}")
    page.reload()
    expect(sources(person)).to_have_count(2)
    expect(switch(page)).to_be_hidden()
    person.go("/organization/tools")
    page.get_by_role("button", name="Remove the provider").click()
    expect(page.get_by_role("textbox", name="Address of SearXNG")).to_be_visible()


def opens_a_tab_that_knows_nothing_of_the_chat(person: Person) -> None:
    body = "<title>Ferries</title><p>Pier four.</p>"
    person.context.route(
        re.compile("^https://ferries"),
        lambda route: route.fulfill(body=body, content_type="text/html"),
    )
    with person.context.expect_page() as opened:
        sources(person).first.click()
    tab = opened.value
    expect(tab.get_by_text("Pier four.")).to_be_visible()
    assert tab.url == FERRIES["url"]
    assert tab.evaluate("[window.opener, document.referrer]") == [None, ""]
    tab.close()


def switches_and_sends_in_one_breath(person: Person) -> None:
    """The switch's request is held until the message has been sent: they keep their order."""
    page = person.page
    person.composer.fill("And on Tuesday?")
    held: list[Route] = []
    page.route(
        re.compile(r"/api/conversations/[^/]+$"),
        lambda route: held.append(route) if route.request.method == "PATCH" else route.fallback(),
    )
    switch(page).click()
    page.get_by_role("button", name="Send", exact=True).click()
    expect(switch(page)).to_have_attribute("aria-pressed", "true")
    expect(person.composer).to_have_value("")
    assert len(held) == 1
    held[0].continue_()
    page.unroute_all()  # each request of a page that has one goes another way
    expect(sources(person)).to_have_count(2)
    person.wait_for_the_end()
