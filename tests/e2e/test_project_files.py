"""Files of a project on its page: added, read in a chat there, removed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.api.test_documents import pdf_of
from tests.e2e.images import keep_image
from tests.e2e.test_accessibility import assert_accessible
from tests.e2e.users import Person, SignUp, Visitor
from tests.support.scripted import ScriptedProduct


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


def test_file_of_a_project_is_added_read_in_its_chat_and_removed(
    sign_up: SignUp, scripted_product: ScriptedProduct, tmp_path: Path
) -> None:
    scripted_product.says("At five [tea.pdf, page 2].")
    person: Person = sign_up()
    page = person.page
    project = person.call("POST", "/api/projects", {"name": "House"})["id"]
    tea, broken = tmp_path / "tea.pdf", tmp_path / "broken.pdf"
    tea.write_bytes(pdf_of(["Tea.", "Cake at five."]))
    broken.write_bytes(tea.read_bytes()[:200])

    person.open(f"/projects/{project}")
    expect(page.get_by_text("There are no files yet.")).to_be_visible()
    person.visitor.expect_status(400)  # of the broken one
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Add files").click()
    chooser.value.set_files([broken, tea])
    expect(page.get_by_text("The file is damaged")).to_be_visible()
    files = page.get_by_role("list", name="Files")
    expect(files.get_by_role("listitem")).to_have_count(1)
    expect(files).to_contain_text("tea.pdf")
    expect(files).to_contain_text("2 KB")
    assert_accessible(page, "a project with files")
    keep_image(page, "files")

    page.get_by_role("link", name="New chat in this project").click()
    expect(page.get_by_role("button", name="Project: House")).to_be_visible()
    person.composer.fill("When is the cake of this house?")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(person.answer).to_contain_text("At five")
    person.wait_for_the_end()
    stored = person.call("GET", f"/api/conversations/{person.conversation_id}")
    assert stored["project_id"] == project
    expect(page.get_by_role("region", name="Sources")).to_contain_text("tea.pdf")

    person.go(f"/projects/{project}")
    page.get_by_role("button", name="Remove tea.pdf").click()
    expect(page.get_by_text("There are no files yet.")).to_be_visible()
