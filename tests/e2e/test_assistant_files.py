"""Files of an assistant in its dialog: added, read in a chat with it, removed."""

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


@pytest.mark.nightly(
    beside="tests/e2e/test_project_chats.py"
    "::test_project_has_files_and_instructions_for_its_chats_and_one_that_is_moved_there"
)
def test_file_of_an_assistant_is_added_read_in_its_chat_and_removed(
    sign_up: SignUp, scripted_product: ScriptedProduct, tmp_path: Path
) -> None:
    scripted_product.says("At five [tea.pdf, page 2].")
    person: Person = sign_up(**PHONE)
    page = person.page
    assistant = person.call("POST", "/api/assistants", {"name": "Host"})["id"]
    tea = tmp_path / "tea.pdf"
    tea.write_bytes(pdf_of(["Tea.", "Cake at five."]))

    person.open("/assistants")
    page.get_by_role("button", name="Options for Host").click()
    page.get_by_role("menuitem", name="Edit").click()
    dialog = page.get_by_role("dialog", name="Edit the assistant")
    expect(dialog.get_by_text("There are no files yet.")).to_be_visible()
    expect(dialog.get_by_text("Whoever may use the assistant can open them.")).to_be_visible()
    with page.expect_file_chooser() as chooser:
        dialog.get_by_role("button", name="Add files").click()
    chooser.value.set_files(tea)
    files = dialog.get_by_role("list", name="Files")
    expect(files).to_contain_text("tea.pdf")
    assert_accessible(page, "an assistant's files")
    keep_image(page, "files")

    person.go(f"/a/{assistant}")
    person.composer.fill("When does the host serve cake?")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(person.answer).to_contain_text("At five")
    person.wait_for_the_end()
    expect(page.get_by_role("region", name="Sources")).to_contain_text("tea.pdf")

    person.go("/assistants")
    page.get_by_role("button", name="Options for Host").click()
    page.get_by_role("menuitem", name="Edit").click()
    dialog.get_by_role("button", name="Remove tea.pdf").click()
    expect(dialog.get_by_text("There are no files yet.")).to_be_visible()
