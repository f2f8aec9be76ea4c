"""A document in a chat: attached, asked about, cited, and the cited place opened."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.api.test_documents import long_pdf, pdf_of
from tests.e2e.images import keep_image
from tests.e2e.test_accessibility import assert_accessible
from tests.e2e.users import Person, SignUp, Visitor
from tests.support.scripted import ScriptedProduct

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


def test_answer_shows_the_page_that_it_cites(
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
