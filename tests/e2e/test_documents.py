"""A document in a chat: attached, asked about, cited, and the cited place opened; or withheld."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.api.test_documents import long_pdf, pdf_of
from tests.api.test_withheld_files import ORDER
from tests.e2e.images import keep_image
from tests.e2e.test_accessibility import assert_accessible
from tests.e2e.users import Person, SignUp, Visitor
from tests.support.scripted import ScriptedProduct

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


def test_answer_shows_the_page_that_it_cites_and_names_a_file_that_was_withheld(
    sign_up: SignUp, scripted_product: ScriptedProduct, tmp_path: Path
) -> None:
    scripted_product.says("It is 4,200 crowns [lease.pdf, page 37].")
    person: Person = sign_up(**PHONE)
    page = person.page
    person.visitor.expect_status(400)  # the broken file
    person.open("/")
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(pdf_of(["x"])[:200])
    lease = tmp_path / "lease.pdf"
    lease.write_bytes(long_pdf("The deposit amounts to 4,200 crowns.", on=37))

    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Add images or documents").click()
    chooser.value.set_files(broken)
    expect(page.get_by_text("The file is damaged")).to_be_visible()
    keep_image(page, "refused")
    page.get_by_role("button", name="Remove broken.pdf").click()

    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Add images or documents").click()
    chooser.value.set_files(lease)
    person.composer.fill("How large is the deposit?")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(person.answer).to_contain_text("4,200 crowns")
    person.wait_for_the_end()

    person.answer.get_by_role("button", name="Source 1: lease.pdf, page 37").click()
    expect(page.get_by_role("dialog", name="lease.pdf, page 37")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    sources = page.get_by_role("region", name="Sources")
    sources.get_by_role("button", name="lease.pdf, page 37").click()
    place = page.get_by_role("dialog", name="lease.pdf, page 37")
    expect(place).to_contain_text("The deposit amounts to 4,200 crowns.")
    assert_accessible(page, "a cited place")
    keep_image(page, "source")
    page.keyboard.press("Escape")

    scripted_product.says("I do not know.")
    person.composer.fill("Which ships enter the harbour, and which leave the port?")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(person.answer).to_contain_text("I do not know.")
    person.wait_for_the_end()
    read = page.get_by_role("region", name="Sources").last
    places = read.get_by_role("button", name="lease.pdf, page")
    expect(places).to_have_count(3)
    rest = read.get_by_role("button", name=re.compile("all .* places read"))
    keep_image(page, "read")
    rest.click()
    fewer = read.get_by_role("button", name="Show fewer")
    expect(fewer).to_be_visible()
    assert places.count() > 3
    fewer.click()
    expect(places).to_have_count(3)
    withheld_file_is_named_once_and_its_text_is_shown(person, scripted_product, tmp_path)


def withheld_file_is_named_once_and_its_text_is_shown(
    person: Person, product: ScriptedProduct, tmp_path: Path
) -> None:
    """One that reads like orders: its answer says that the model was not given it, and shows it."""
    product.says("The gate opens at seven.")
    page = person.page
    minutes, gate = tmp_path / "minutes.txt", tmp_path / "gate.txt"
    minutes.write_text(f"<b>Minutes.</b> {ORDER}")
    gate.write_text("The gate opens at seven.")
    person.go("/")
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
    assert_accessible(page, "a withheld text on a phone")
    keep_image(page, "withheld")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    keep_image(page, "withheld-note")

    person.composer.fill("And when does it close?")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("article", name="Parley")).to_have_count(2)
    person.wait_for_the_end()
    expect(page.get_by_text("The model was not given the text of")).to_have_count(1)
    assert len(person.stored()[-1]["withheld"]) == 1
