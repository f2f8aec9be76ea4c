"""Owners decide which answers are reused, and whoever wonders sees that one was."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.e2e.images import keep_image
from tests.e2e.users import Person, SignUp, Visitor
from tests.support.scripted import ScriptedProduct


@pytest.fixture
def visit(visit_scripted: Callable[..., Visitor]) -> Callable[..., Visitor]:
    return visit_scripted


def test_stored_answer_is_switched_on_given_and_shown_as_such(
    sign_up: SignUp, scripted_product: ScriptedProduct
) -> None:
    scripted_product.says("Seven hills.")
    person: Person = sign_up()
    page = person.page
    person.open("/settings/privacy")
    page.get_by_label("Stored answers are given to").select_option("exact")
    page.get_by_label("Minutes that an answer is stored").fill("30")
    page.get_by_label("Also where answers are sampled").check()
    section = page.get_by_role("heading", name="Reused answers").locator("xpath=..")
    section.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved. It holds within seconds.")).to_be_visible()
    keep_image(page, "reused-answers")
    assert person.call("GET", "/api/data-policy")["answer_cache_s"] == 30 * 60

    for _ in range(2):
        person.go("/")
        person.say("How many hills has Rome?")
        expect(person.answer).to_contain_text("Seven hills.")
        person.wait_for_the_end()
    person.answer.get_by_role("button", name="More about this answer").click()
    page.get_by_role("menuitem", name="What was sent").click()
    sent = page.get_by_role("dialog", name="What was sent")
    expect(sent).to_contain_text("a stored answer to an identical prompt")
