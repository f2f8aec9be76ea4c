"""Many chats at hand: files in and out, tags, what is found and printed, temporary chats."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.images import keep_image
from tests.e2e.inserted_conversations import insert_branch
from tests.e2e.test_accessibility import assert_accessible
from tests.e2e.test_instructions import PHONE
from tests.e2e.users import Person, SignUp, Visitor
from tests.support.scripted import ScriptedProduct

FOREIGN = [
    {
        "uuid": "u1",
        "name": "Old talk <img src=x onerror=alert(1)>",
        "chat_messages": [
            {"uuid": "1", "sender": "human", "text": "Is <b>this</b> bold?"},
            {"uuid": "2", "sender": "assistant", "text": "<script>alert(1)</script> No."},
        ],
    },
    {"uuid": "u2", "name": "Nothing in it", "chat_messages": []},
]


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


def test_chats_are_exported_and_imported(sign_up: SignUp, tmp_path: Path) -> None:
    person: Person = sign_up(**PHONE)
    page = person.page
    titles = {"Bicycle repair", "Tomatoes"}
    for title in titles:
        person.new_conversation(title)
    person.open("/chats")
    main = page.get_by_role("main")
    with page.expect_download() as saved:
        main.get_by_role("button", name="Export all").click()
    exported = json.loads(Path(saved.value.path()).read_text())
    assert {one["title"] for one in exported["conversations"]} == titles

    file = tmp_path / "conversations.json"
    file.write_text(json.dumps(FOREIGN))
    main.get_by_role("button", name="Import").click()
    dialog = page.get_by_role("dialog", name="Import chats")
    for said in ("1 imported, 0 here already, 1 left out.", "0 imported, 1 here already"):
        dialog.get_by_label("File", exact=True).set_input_files(file)
        expect(dialog.get_by_role("status")).to_contain_text(said)
    assert_accessible(page, "an import")
    keep_image(page, "import")
    dialog.get_by_role("button", name="Close").click()
    [row] = person.call("GET", "/api/conversations?search=Old")["data"]
    person.go(f"/c/{row['id']}")
    expect(page.get_by_text("<script>alert(1)</script> No.")).to_be_visible()
    expect(page.get_by_text("Is <b>this</b> bold?")).to_be_visible()


def temporary_chat_is_erased_when_it_is_left(person: Person, product: ScriptedProduct) -> None:
    product.says("Certainly.")
    page = person.page
    person.open("/")
    page.get_by_role("button", name="Temporary chat").click()
    person.say("Keep this to yourself")
    expect(person.answer).to_contain_text("Certainly.")
    person.wait_for_the_end()
    expect(page.get_by_text("Temporary chat: it is in no list")).to_be_visible()
    expect(page.get_by_role("button", name="Share")).to_be_hidden()
    identity = person.conversation_id
    page.reload()
    expect(person.answer).to_contain_text("Certainly.")
    expect(person.conversations).to_have_count(0)
    with page.expect_response(lambda answer: answer.request.method == "DELETE"):
        page.get_by_role("button", name="New chat").first.click()
    assert person.context.request.get(f"/api/conversations/{identity}").status == 404


def test_chats_are_tagged_found_printed_and_gone_on_with_and_a_temporary_one_is_erased(
    sign_up: SignUp, scripted_product: ScriptedProduct
) -> None:
    person = sign_up()
    page = person.page
    temporary_chat_is_erased_when_it_is_left(person, scripted_product)
    texts = ["How do I feed a sourdough starter?", "With <b>flour</b> and $x^2$ of water."]
    soup = insert_branch(scripted_product, person, "Bread <i>x</i>", texts)
    insert_branch(scripted_product, person, "Old bread", ["A starter", "Only a starter."])
    for identity in (soup, person.new_conversation("Bicycle repair")):
        person.call("PATCH", f"/api/conversations/{identity}", {"tags": ["kitchen", identity[:8]]})

    person.go("/chats")
    main = page.get_by_role("main")
    main.get_by_label("Tag", exact=True).select_option(label=f"{soup[:8]} (1)")
    expect(main.get_by_role("checkbox", name="Choose Bicycle repair")).to_be_hidden()
    expect(main.get_by_role("checkbox", name="Choose Bread <i>x</i>")).to_be_visible()
    assert_accessible(page, "chats with a tag")
    person.choose("Bread <i>x</i>", "Tags")
    dialog = page.get_by_role("dialog", name="Tags")
    assert_accessible(page, "the tags of a chat")
    dialog.get_by_role("textbox", name="Tags").fill("kitchen, weekend")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    tags = person.call("GET", "/api/conversations/tags")["data"]
    assert {"tag": "weekend", "count": 1} in tags

    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search chats").fill("starter flour sourdough")
    expect(page.get_by_text("No chat has")).to_be_visible()
    page.get_by_role("combobox", name="Search chats").fill("flour")
    found = page.get_by_role("option")
    expect(found).to_have_count(1)
    expect(found).to_contain_text("With <b>flour</b> and")
    expect(found.locator("mark")).to_have_text("flour")
    assert_accessible(page, "what was found")
    keep_image(page, "found")
    found.click()
    page.wait_for_url(f"**/c/{soup}")

    # From another page: a chat to print has the title of the chat, and `go` waits for a new one.
    person.go("/")
    person.go(f"/print/{soup}")
    expect(page.locator(".formula math")).to_have_count(1)
    expect(page.get_by_text("With <b>flour</b> and")).to_be_visible()
    assert_accessible(page, "a chat to print")
    page.emulate_media(media="print")
    expect(page.get_by_role("button", name="Print or save as PDF")).to_be_hidden()
    keep_image(page, "printed")
    pdf = page.pdf()
    assert pdf.startswith(b"%PDF") and len(pdf) > 5_000
    page.emulate_media(media="screen")

    token = person.call("POST", f"/api/conversations/{soup}/shares")["token"]
    reader = sign_up()
    reader.open(f"/share/{token}")
    reader.page.get_by_role("button", name="Continue this chat").click()
    reader.page.wait_for_url("**/c/*")
    expect(reader.answer).to_contain_text("With <b>flour</b>")
    assert reader.conversation_id != soup
