"""The sidebar, the other tab, sharing."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.inserted_conversations import insert_branch
from tests.e2e.users import Person, SignUp, Visit, Visitor, letters, shown_letters
from tests.support.scripted import ScriptedProduct


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


def test_conversation_is_renamed_pinned_and_archived(sign_up: SignUp) -> None:
    person = sign_up()
    person.new_conversation("Lentil soup")
    person.new_conversation("Bicycle repair")
    person.open("/")

    person.choose("Lentil soup", "Rename")
    field = person.page.get_by_role("textbox", name="Title")
    field.fill("Red lentil soup")
    field.press("Enter")
    expect(person.conversations.filter(has_text="Red lentil soup")).to_be_visible()

    person.choose("Red lentil soup", "Pin")
    pinned = person.page.get_by_role("region", name="Pinned")
    expect(pinned.get_by_role("link")).to_have_text("Red lentil soup")

    # The list changes at once; leaving the page before the answer would take the request back.
    with person.page.expect_response(lambda answer: answer.request.method == "PATCH"):
        person.choose("Bicycle repair", "Archive")
    expect(person.conversations.filter(has_text="Bicycle repair")).to_be_hidden()
    person.go("/archived")
    main = person.page.get_by_role("main")
    expect(main.get_by_role("link", name="Bicycle repair")).to_be_visible()

    titles = {row["title"]: row for row in person.call("GET", "/api/conversations")["data"]}
    assert titles["Red lentil soup"]["pinned"]
    assert "Bicycle repair" not in titles


def test_title_is_unchanged_after_escape(sign_up: SignUp) -> None:
    person = sign_up()
    person.new_conversation("Lentil soup")
    person.open("/")
    person.choose("Lentil soup", "Rename")
    field = person.page.get_by_role("textbox", name="Title")
    field.fill("Nonsense")
    field.press("Escape")
    expect(person.conversations.filter(has_text="Lentil soup")).to_be_visible()


def test_deleted_conversation_is_restored_by_undo(sign_up: SignUp) -> None:
    person = sign_up()
    identity = person.new_conversation("Precious notes")
    person.open(f"/c/{identity}")
    person.choose("Precious notes", "Delete")
    expect(person.conversations.filter(has_text="Precious notes")).to_be_hidden()
    expect(person.page).to_have_url(re.compile("/$"))

    person.page.get_by_role("button", name="Undo").click()
    expect(person.conversations.filter(has_text="Precious notes")).to_be_visible()
    expect(person.page).to_have_url(re.compile(f"/c/{identity}$"))
    assert person.call("GET", f"/api/conversations/{identity}")["title"] == "Precious notes"


def test_search_finds_by_words_and_opens_by_keyboard(person: Person) -> None:
    identity = person.new_conversation("Growing tomatoes on a balcony")
    person.new_conversation("Bicycle repair")
    # A key that is pressed before the page listens is lost.
    expect(person.conversations.filter(has_text="Bicycle repair")).to_be_visible()
    person.page.keyboard.press("Control+k")
    field = person.page.get_by_role("combobox", name="Search chats")
    field.fill("tomatoes")
    options = person.page.get_by_role("option")
    expect(options).to_have_count(1)
    expect(options).to_contain_text("Growing tomatoes")
    field.press("Enter")
    expect(person.page).to_have_url(re.compile(f"/c/{identity}$"))

    expect(field).to_be_hidden()
    expect(person.composer).to_be_focused()  # the page has come, and the next key is its own
    person.page.keyboard.press("Control+k")
    field.fill("submarine")
    expect(person.page.get_by_text("No chat has “submarine” in it.")).to_be_visible()


def test_list_loads_further_pages_when_scrolled(sign_up: SignUp) -> None:
    person = sign_up()
    for number in range(40):
        person.new_conversation(f"Talk {number:02}")
    person.open("/")
    expect(person.conversations.filter(has_text="Talk 39")).to_be_visible()
    expect(person.conversations.filter(has_text="Talk 00")).to_be_hidden()
    for _ in range(10):
        person.conversations.last.scroll_into_view_if_needed()
        if person.conversations.count() == 40:
            break
    expect(person.conversations).to_have_count(40)


def open_whales(person: Person, product: ScriptedProduct) -> None:
    texts = ["Tell me about whales.", "They are **large**."]
    person.open(f"/c/{insert_branch(product, person, 'Whales', texts)}")


def test_share_shows_the_messages_until_it_is_revoked(
    sign_up: SignUp, visit: Visit, scripted_product: ScriptedProduct
) -> None:
    person = sign_up()
    open_whales(person, scripted_product)
    person.page.get_by_role("button", name="Share").click()
    person.page.get_by_role("button", name="Create link").click()
    link = person.page.get_by_role("textbox", name="Link").input_value()
    expect(person.page.get_by_text(re.compile("It works until"))).to_be_visible()

    other_user = visit()
    other_user.expect_status(404)
    other_user.page.goto(link)
    expect(other_user.page.get_by_role("article", name="Prompt")).to_have_text(
        "Tell me about whales."
    )
    shared = shown_letters(other_user.page.get_by_role("article", name="Answer"))
    assert shared == letters("They are large.")

    person.page.get_by_role("button", name="Delete link").click()
    expect(person.page.get_by_text("The link no longer works.")).to_be_visible()
    other_user.page.reload()
    expect(other_user.page.get_by_text("This link no longer works")).to_be_visible()


def test_owner_lists_links_forbids_all_and_revokes_one(
    sign_up: SignUp, visit: Visit, scripted_product: ScriptedProduct
) -> None:
    person = sign_up()
    open_whales(person, scripted_product)
    person.page.get_by_role("button", name="Share").click()
    person.page.get_by_role("radio", name="7 days").click()
    person.page.get_by_role("button", name="Create link").click()
    link = person.page.get_by_role("textbox", name="Link").input_value()
    other_user = visit()
    other_user.expect_status(404)

    person.go("/settings")
    links = person.page.get_by_role("list", name="Shared links").get_by_role("listitem")
    expect(links).to_have_count(1)
    person.page.get_by_role("button", name="Forbid shared links").click()
    expect(person.page.get_by_text("none of them works")).to_be_visible()
    other_user.page.goto(link)
    expect(other_user.page.get_by_text("This link no longer works")).to_be_visible()

    person.page.get_by_role("button", name="Allow shared links").click()
    expect(person.page.get_by_role("button", name="Forbid shared links")).to_be_visible()
    other_user.page.reload()
    expect(other_user.page.get_by_role("article", name="Prompt")).to_be_visible()

    person.page.get_by_role("radio", name="Everybody's").click()
    links.get_by_role("button", name="Revoke").click()
    expect(person.page.get_by_text("No link works now.")).to_be_visible()
    other_user.page.reload()
    expect(other_user.page.get_by_text("This link no longer works")).to_be_visible()
