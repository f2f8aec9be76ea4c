"""A file that reads like orders: its answer says that the model was not given it, and shows it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.api.test_withheld_files import ORDER
from tests.e2e.images import keep_image
from tests.e2e.test_accessibility import PHONE, assert_accessible
from tests.e2e.users import SignUp, Visitor
from tests.support.scripted import ScriptedProduct


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


ON_A_PHONE = (
    "tests/e2e/test_withheld_files.py"
    "::test_withheld_file_is_named_once_and_its_text_is_shown[phone]"
)


@pytest.mark.parametrize(
    "device", [pytest.param("desktop", marks=pytest.mark.nightly(beside=ON_A_PHONE)), "phone"]
)
def test_withheld_file_is_named_once_and_its_text_is_shown(
    sign_up: SignUp, scripted_product: ScriptedProduct, device: str, tmp_path: Path
) -> None:
    scripted_product.says("The gate opens at seven.")
    person = sign_up(**(PHONE if device == "phone" else {}))
    page = person.page
    minutes, gate = tmp_path / "minutes.txt", tmp_path / "gate.txt"
    minutes.write_text(f"<b>Minutes.</b> {ORDER}")
    gate.write_text("The gate opens at seven.")
    person.open("/")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Add images or documents").click()
    chooser.value.set_files([minutes, gate])
    person.composer.fill("When does the gate open?")
    page.get_by_role("button", name="Send", exact=True).click()
    person.wait_for_the_end()
    expect(page.get_by_role("article", name="You").get_by_text("gate.txt")).to_be_visible()
    parts = person.stored()[0]["parts"]
    assert [part["type"] for part in parts] == ["text", "file", "file"]
    expect(person.answer).to_contain_text("The model was not given the text of minutes.txt")
    expect(person.answer).not_to_contain_text("the text of gate.txt")

    person.answer.get_by_role("button", name="Look at the text").click()
    dialog = page.get_by_role("dialog", name="minutes.txt")
    expect(dialog).to_contain_text(f"<b>Minutes.</b> {ORDER}")
    assert_accessible(page, f"a withheld text on a {device}")
    keep_image(page, f"withheld-{device}")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    keep_image(page, f"withheld-note-{device}")

    person.composer.fill("And when does it close?")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("article", name="Parley")).to_have_count(2)
    person.wait_for_the_end()
    expect(page.get_by_text("The model was not given the text of")).to_have_count(1)
    assert len(person.stored()[-1]["withheld"]) == 1
