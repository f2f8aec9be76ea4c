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


def test_conversation_is_renamed_pinned_deleted_restored_found_archived_and_shared(
    sign_up: SignUp, visit: Visit, scripted_product: ScriptedProduct
) -> None:
    person = sign_up()
    page = person.page
    soup = person.new_conversation("Lentil soup")
    person.new_conversation("Bicycle repair")
    person.open(f"/c/{soup}")

    person.choose("Lentil soup", "Rename")
    field = page.get_by_role("textbox", name="Title")
    field.fill("Nonsense")
    field.press("Escape")
    expect(person.conversations.filter(has_text="Lentil soup")).to_be_visible()
    person.choose("Lentil soup", "Rename")
    field.fill("Red lentil soup")
    field.press("Enter")
    expect(person.conversations.filter(has_text="Red lentil soup")).to_be_visible()

    person.choose("Red lentil soup", "Delete")
    expect(person.conversations.filter(has_text="Red lentil soup")).to_be_hidden()
    expect(page).to_have_url(re.compile("/$"))
    page.get_by_role("button", name="Undo").click()
    expect(person.conversations.filter(has_text="Red lentil soup")).to_be_visible()
    expect(page).to_have_url(re.compile(f"/c/{soup}$"))
    assert person.call("GET", f"/api/conversations/{soup}")["title"] == "Red lentil soup"

    person.choose("Red lentil soup", "Pin")
    pinned = page.get_by_role("region", name="Pinned")
    expect(pinned.get_by_role("link")).to_have_text("Red lentil soup")

    person.go("/")
    find_by_keyboard(person, "lentil", soup)

    # The list changes at once; leaving the page before the answer would take the request back.
    with page.expect_response(lambda answer: answer.request.method == "PATCH"):
        person.choose("Bicycle repair", "Archive")
    expect(person.conversations.filter(has_text="Bicycle repair")).to_be_hidden()
    person.go("/archived")
    main = page.get_by_role("main")
    expect(main.get_by_role("link", name="Bicycle repair")).to_be_visible()

    titles = {row["title"]: row for row in person.call("GET", "/api/conversations")["data"]}
    assert titles["Red lentil soup"]["pinned"]
    assert "Bicycle repair" not in titles
    link_shows_the_messages_until_it_is_deleted_forbidden_or_revoked(
        person, visit(), scripted_product
    )


def find_by_keyboard(person: Person, word: str, identity: str) -> None:
    """Goes to the one chat that has the word, and looks for one that none has."""
    page = person.page
    expect(person.composer).to_be_focused()  # a key that is pressed before the page listens is lost
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Search chats")
    field.fill(word)
    options = page.get_by_role("option")
    expect(options).to_have_count(1)
    expect(options).to_contain_text(word)
    field.press("Enter")
    expect(page).to_have_url(re.compile(f"/c/{identity}$"))

    expect(field).to_be_hidden()
    expect(person.composer).to_be_focused()  # the page has come, and the next key is its own
    page.keyboard.press("Control+k")
    field.fill("submarine")
    expect(page.get_by_text("No chat has “submarine” in it.")).to_be_visible()
    field.press("Escape")
    expect(field).to_be_hidden()


def test_list_loads_further_pages_when_scrolled(
    sign_up: SignUp, scripted_product: ScriptedProduct
) -> None:
    person = sign_up()
    first = person.new_conversation("Talk 00")
    scripted_product.rows(
        "INSERT INTO conversations_conversation SELECT (jsonb_populate_record(one,"
        " jsonb_build_object('id', gen_random_uuid(), 'title', 'Talk ' || to_char(n, 'FM00'),"
        " 'updated_at', one.updated_at + n * interval '1 microsecond'))).*"
        " FROM conversations_conversation one, generate_series(1, 39) n WHERE one.id = %s"
        " RETURNING id",
        [first],
    )
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
    person.go(f"/c/{insert_branch(product, person, 'Whales', texts)}")


def link_shows_the_messages_until_it_is_deleted_forbidden_or_revoked(
    person: Person, other_user: Visitor, product: ScriptedProduct
) -> None:
    page = person.page
    open_whales(person, product)
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Create link").click()
    link = page.get_by_role("textbox", name="Link").input_value()
    expect(page.get_by_text(re.compile("It works until"))).to_be_visible()

    other_user.expect_status(404)
    other_page = other_user.page
    no_longer = other_page.get_by_text("This link no longer works")
    other_page.goto(link)
    prompt = other_page.get_by_role("article", name="Prompt")
    expect(prompt).to_have_text("Tell me about whales.")
    shared = shown_letters(other_page.get_by_role("article", name="Answer"))
    assert shared == letters("They are large.")

    page.get_by_role("button", name="Delete link").click()
    expect(page.get_by_text("The link no longer works.")).to_be_visible()
    other_page.reload()
    expect(no_longer).to_be_visible()

    page.get_by_role("radio", name="7 days").click()
    page.get_by_role("button", name="Create link").click()
    field = page.get_by_role("textbox", name="Link")
    expect(field).not_to_have_value(link)
    shared_again = f"/api/shared/{field.input_value().rpartition('/')[2]}"

    def status() -> int:  # of what the page of the link asks for
        return other_user.context.request.get(shared_again).status

    assert status() == 200
    person.go("/settings")
    links = page.get_by_role("list", name="Shared links").get_by_role("listitem")
    expect(links).to_have_count(1)
    page.get_by_role("button", name="Forbid shared links").click()
    expect(page.get_by_text("none of them works")).to_be_visible()
    assert status() == 404

    page.get_by_role("button", name="Allow shared links").click()
    expect(page.get_by_role("button", name="Forbid shared links")).to_be_visible()
    assert status() == 200

    page.get_by_role("radio", name="Everybody's").click()
    links.get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("No link works now.")).to_be_visible()
    assert status() == 404
