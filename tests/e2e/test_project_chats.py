"""A project in the chat: its instructions, its files, its chats, and one that is moved there."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.api.test_documents import pdf_of
from tests.e2e.images import keep_image
from tests.e2e.test_accessibility import assert_accessible
from tests.e2e.test_assistants import PHONE
from tests.e2e.users import Person, SignUp, Visitor
from tests.support.scripted import ScriptedProduct


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


def test_project_has_files_and_instructions_for_its_chats_and_one_that_is_moved_there(
    sign_up: SignUp, scripted_product: ScriptedProduct, tmp_path: Path
) -> None:
    person: Person = sign_up(**PHONE)
    page = person.page
    project = person.call("POST", "/api/projects", {"name": "Garden"})["id"]
    chat = person.new_conversation("Shade")
    tea, broken = tmp_path / "tea.pdf", tmp_path / "broken.pdf"
    tea.write_bytes(pdf_of(["Tea.", "Cake at five."]))
    broken.write_bytes(tea.read_bytes()[:200])

    person.open(f"/projects/{project}")
    expect(page.get_by_text("You have no chats here yet.")).to_be_visible()
    page.get_by_role("textbox", name="Instructions").fill("Speak of plants only.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The project is saved.")).to_be_visible()
    files_are_added(person, broken, tea)
    assert_accessible(page, "a project with files")
    keep_image(page, "project")

    page.get_by_role("link", name="New chat in this project").click()
    expect(page.get_by_role("button", name="Project: Garden")).to_be_visible()
    scripted_product.says("At five [tea.pdf, page 2].")
    ask(person, "When is the cake of this house?", "At five")
    stored = person.call("GET", f"/api/conversations/{person.conversation_id}")
    assert stored["project_id"] == project
    expect(page.get_by_role("region", name="Sources")).to_contain_text("tea.pdf")

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
    page.get_by_role("button", name="Remove tea.pdf").click()
    expect(page.get_by_text("There are no files yet.")).to_be_visible()
    listed = page.get_by_role("list", name="Chats").get_by_role("link", name="Shade")
    listed.click()
    expect(page).to_have_url(re.compile(f"/c/{chat}$"))
    scripted_product.says("Ferns grow there.")
    ask(person, "What grows in the shade?", "Ferns")
    person.answer.get_by_role("button", name="More about this answer").click()
    page.get_by_role("menuitem", name="What was sent").click()
    expect(page.get_by_role("dialog", name="What was sent")).to_contain_text(
        "Speak of plants only."
    )
    keep_image(page, "sent")


def files_are_added(person: Person, broken: Path, whole: Path) -> None:
    page = person.page
    expect(page.get_by_text("There are no files yet.")).to_be_visible()
    person.visitor.expect_status(400)  # of the broken one
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Add files").click()
    chooser.value.set_files([broken, whole])
    expect(page.get_by_text("The file is damaged")).to_be_visible()
    files = page.get_by_role("list", name="Files")
    expect(files.get_by_role("listitem")).to_have_count(1)
    expect(files).to_contain_text(whole.name)
    expect(files).to_contain_text("2 KB")


def ask(person: Person, question: str, answer: str) -> None:
    person.composer.fill(question)
    person.page.get_by_role("button", name="Send", exact=True).click()
    expect(person.answer).to_contain_text(answer)
    person.wait_for_the_end()
