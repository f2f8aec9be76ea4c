"""A project in the chat: its instructions, its chats, and a chat that is moved there."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.images import keep_image
from tests.e2e.test_accessibility import assert_accessible
from tests.e2e.test_assistants import PHONE
from tests.e2e.users import Person, SignUp, Visitor
from tests.support.scripted import ScriptedProduct


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


def test_chat_is_moved_to_a_project_and_read_with_its_instructions(
    sign_up: SignUp, scripted_product: ScriptedProduct
) -> None:
    scripted_product.says("Ferns grow there.")
    person: Person = sign_up(**PHONE)
    page = person.page
    project = person.call("POST", "/api/projects", {"name": "Garden"})["id"]
    chat = person.new_conversation("Shade")

    person.open(f"/projects/{project}")
    expect(page.get_by_text("You have no chats here yet.")).to_be_visible()
    page.get_by_role("textbox", name="Instructions").fill("Speak of plants only.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The project is saved.")).to_be_visible()
    assert_accessible(page, "a project with chats")
    keep_image(page, "project")

    person.go(f"/c/{chat}")
    page.get_by_role("button", name="Open menu").click()
    page.get_by_role("button", name="Options for Shade").click()
    page.get_by_role("menuitem", name="Move to a project").click()
    dialog = page.get_by_role("dialog", name="Move to a project")
    dialog.get_by_role("radio", name="Garden").check()
    assert_accessible(page, "the dialog that moves a chat")
    keep_image(page, "move")
    dialog.get_by_role("button", name="Move", exact=True).click()
    expect(dialog).to_be_hidden()
    page.get_by_role("navigation", name="Projects").get_by_role("link", name="Garden").click()
    listed = page.get_by_role("list", name="Chats").get_by_role("link", name="Shade")
    listed.click()
    expect(page).to_have_url(re.compile(f"/c/{chat}$"))

    person.composer.fill("What grows in the shade?")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(person.answer).to_contain_text("Ferns")
    person.wait_for_the_end()
    person.answer.get_by_role("button", name="More about this answer").click()
    page.get_by_role("menuitem", name="What was sent").click()
    expect(page.get_by_role("dialog", name="What was sent")).to_contain_text(
        "Speak of plants only."
    )
    keep_image(page, "sent")
